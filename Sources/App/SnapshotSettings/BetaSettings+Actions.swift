import DataSnapshots
import Dispatch
import Foundation
import HTTPTransport
import SnapshotClient
public import SnapshotFormat
import SystemIO

extension BetaSettings {
  // MARK: - Sending

  /// Begins to make a snapshot of what is recorded, and to send it to the report that `text` names.
  ///
  /// Its UUID stands in ``Overview/activity`` and in the list of recent snapshots as soon as it is made; the sending
  /// itself can be followed in ``Overview/uploads``.
  public func upload(toReport text: String) async throws(BetaSettingsError) {
    let report: ReportID
    do throws(ReportID.Refusal) {
      report = try ReportID(validating: text.trimmingCharacters(in: .whitespacesAndNewlines))
    } catch {
      throw .report(error)
    }
    let recorded = await mode.report()
    guard recorded.recordingCount > 0 || recorded.snapshot != nil else { throw .nothingRecorded }
    try begin("Making a snapshot for \(report)") { [self] _ in
      let id = try await uploads.attach(report)
      let problem = await remember(
        RecentSnapshot(id: id, report: report, origin: .sent, date: configuration.clock()))
      return Outcome("Snapshot made for \(report)", "It is on its way to \(client.server).\(problem)", id)
    }
  }

  /// Tries the upload of `id` again at once.
  public func retry(_ id: SnapshotID) async throws(BetaSettingsError) {
    try await perform("Trying again") { [self] _ in
      try await uploads.retry(id)
      return Outcome("Trying again", "The upload will begin in a moment.", id)
    }
  }

  /// Gives the upload of `id` up, and removes it from this device.
  public func remove(_ id: SnapshotID) async throws(BetaSettingsError) {
    try await perform("Removing an upload") { [self] _ in
      try await uploads.remove(id)
      return Outcome("Upload removed", "The snapshot is no longer on this device.", id)
    }
  }

  // MARK: - Replaying

  /// Begins to download the snapshot that `text` means, to check it whole, and to replay it.
  ///
  /// Until all of that is done the app sees what it saw before, and so it does when it fails.
  /// - Returns: the snapshot.
  @discardableResult
  public func activate(_ text: String) throws(BetaSettingsError) -> SnapshotID {
    let reference: SnapshotReference
    do throws(SnapshotReference.Refusal) { reference = try SnapshotReference(text) } catch {
      throw .reference(error)
    }
    guard client.serves(reference) else {
      throw .otherServer(named: reference.server?.absoluteString ?? "another server", own: client.server)
    }
    let id = reference.id
    try begin("Opening snapshot \(id)") { [self] step in
      step("Downloading from \(client.server) …", nil)
      let zip = try await disk.perform { [downloads] in
        try Folder.create(downloads.path)
        // What broke off may go on; of one snapshot at a time.
        for name in try Folder.entries(downloads.path) where !name.hasPrefix("\(id)") {
          try Folder.removeTree(downloads.path + "/" + name)
        }
        return downloads.appending(path: "\(id).zip")
      }
      try await client.fetch(reference, to: zip) { progress in
        let total = progress.total ?? 0
        step(nil, total > 0 ? Double(progress.completed) / Double(total) : nil)
      }
      step("Checking it …", nil)
      let result: Result<Manifest, BundleError>
      do throws(BundleError) { result = .success(try await mode.activate(bundle: zip)) } catch {
        result = .failure(error)
      }
      // What can't be removed goes with the next download.
      await disk.perform { do { try Folder.removeIfPresent(zip.path) } catch {} }
      let manifest = try result.get()
      let problem = await remember(
        RecentSnapshot(
          id: id, report: manifest.report, application: manifest.application, origin: .activated,
          date: configuration.clock()))
      return Outcome("Snapshot active", Self.words(manifest) + problem, id)
    }
    return id
  }

  /// Stops replaying the active snapshot and forgets it; live data passes again.
  public func deactivate() async throws(BetaSettingsError) {
    try await perform("Stopping the replay") { [self] _ in
      try await mode.deactivate()
      return Outcome("Replay stopped", "The app works with live data again.", nil)
    }
  }

  // MARK: - Clearing

  /// Removes what is recorded on this device; the active snapshot and what is on its way stay.
  public func clearRecordings() async throws(BetaSettingsError) {
    try await perform("Deleting the recordings") { [self] _ in
      try await mode.clear()
      return Outcome("Recordings deleted", "Nothing is recorded on this device now.", nil)
    }
  }

  /// Empties the list of recent snapshots; the snapshots themselves stay where they are.
  public func clearRecent() async throws(BetaSettingsError) {
    try await perform("Emptying the list") { [self] _ in
      try await disk.perform { [recent] in try recent.clear() }
      return Outcome("List emptied", "No recent snapshots are listed any more.", nil)
    }
  }

  // MARK: -

  /// Puts `snapshot` into the list; answers what to tell where that can't be kept for the next launch.
  private func remember(_ snapshot: RecentSnapshot) async -> String {
    await disk.perform { [recent] in
      do {
        try recent.insert(snapshot)
        return ""
      } catch {
        return " The list of recent snapshots could not be saved. \(error)"
      }
    }
  }

  private static func words(_ manifest: Manifest) -> String {
    let application = manifest.application
    let count = manifest.recordings.count
    return """
      The app now replays \(count) recording\(count == 1 ? "" : "s") of \(application.identifier) \
      \(application.version) (\(application.build)), made on \(manifest.device.model).
      """
  }
}
