public import DataSnapshots
import Dispatch
import Foundation
import HTTPClient
import SnapshotClient
public import SnapshotFormat
import SystemIO

extension BetaSettings {
  // MARK: - Sending

  /// Starts to make a snapshot of the recordings and to send it to the report named `text`.
  ///
  /// The snapshot's UUID is in ``Overview/activity`` and in the list of recent snapshots as soon as the snapshot
  /// exists; the progress of the upload is in ``Overview/uploads``.
  /// - Parameters:
  ///   - text: the name of the bug report, such as `BUG-123`. White space around it is ignored.
  ///   - note: the tester's words, which are sent with the recordings; empty for none.
  ///   - run: the current recordings, or those of the run that crashed (``Overview/crashedRun``).
  public func upload(
    toReport text: String, note: String = "", of run: SnapshotMode.Run = .current
  ) async throws(BetaSettingsError) {
    let report: ReportID
    do {
      report = try ReportID(validating: text.trimmingCharacters(in: .whitespacesAndNewlines))
    } catch {
      throw .report(error)
    }
    let limit = Manifest.Limits.default.noteLength
    guard note.utf8.count <= limit else { throw .noteTooLong(limit: limit) }
    let bug = BugReport(report: report, note: note.allSatisfy(\.isWhitespace) ? nil : note, run: run)
    switch run {
    case .current:
      let recorded = await mode.report()
      guard recorded.recordingCount > 0 || recorded.snapshot != nil else { throw .nothingRecorded }
    case .previous:
      guard await mode.previousRun != nil else { throw .noPreviousRun }
    }
    try begin("Making a snapshot for \(report)") { [self] _ in
      let id = try await uploads.attach(bug)
      let problem = await remember(
        RecentSnapshot(id: id, report: report, origin: .sent, date: configuration.clock()))
      return Outcome("Snapshot made for \(report)", "It is being sent to \(client.server).\(problem)", id)
    }
  }

  /// Retries the upload of `id` immediately.
  public func retry(_ id: SnapshotID) async throws(BetaSettingsError) {
    try await perform("Retrying the upload") { [self] _ in
      try await uploads.retry(id)
      return Outcome("Retrying the upload", "The upload starts in a moment.", id)
    }
  }

  /// Cancels the upload of `id`, and removes it from this device.
  public func remove(_ id: SnapshotID) async throws(BetaSettingsError) {
    try await perform("Removing an upload") { [self] _ in
      try await uploads.remove(id)
      return Outcome("Upload removed", "The snapshot is no longer on this device.", id)
    }
  }

  // MARK: - Replaying

  /// Starts to download the snapshot that `text` refers to, to verify it completely, and to replay it.
  ///
  /// Until this is complete, and if it fails, the app keeps its current data.
  /// - Returns: the snapshot's UUID.
  @discardableResult
  public func activate(_ text: String) throws(BetaSettingsError) -> SnapshotID {
    let reference: SnapshotReference
    do { reference = try SnapshotReference(text) } catch {
      throw .reference(error)
    }
    guard client.serves(reference) else {
      throw .otherServer(named: reference.server?.absoluteString ?? "another server", own: client.server)
    }
    let id = reference.id
    try begin("Opening snapshot \(id)") { [self] step in
      step("Downloading from \(client.server) …", nil)
      let zip = try await disk.perform { [downloads] in
        try PrivateFolder.create(downloads.deletingLastPathComponent().path)
        try Folder.create(downloads.path)
        // Keeps a partial download of this snapshot, so that it can be resumed, and removes those of other snapshots.
        for name in try Folder.entries(downloads.path) where !name.hasPrefix("\(id)") {
          try Folder.removeTree(downloads.path + "/" + name)
        }
        return downloads.appending(path: "\(id).zip")
      }
      try await client.fetch(reference, to: zip) { progress in
        let total = progress.total ?? 0
        step(nil, total > 0 ? Double(progress.completed) / Double(total) : nil)
      }
      step("Verifying the snapshot …", nil)
      let result: Result<Manifest, BundleError>
      do throws(BundleError) {
        result = .success(try await mode.activate(bundle: zip, identities: configuration.identities()))
      } catch {
        result = .failure(error)
      }
      // If removal fails, the next download of another snapshot removes the file.
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

  /// Stops replaying the active snapshot and removes it; the app uses live data again.
  public func deactivate() async throws(BetaSettingsError) {
    try await perform("Stopping the replay") { [self] _ in
      try await mode.deactivate()
      return Outcome("Replay stopped", "The app uses live data again.", nil)
    }
  }

  // MARK: - Clearing

  /// Deletes the recordings on this device; the active snapshot and pending uploads are kept.
  public func clearRecordings() async throws(BetaSettingsError) {
    try await perform("Deleting the recordings") { [self] _ in
      try await mode.clear()
      return Outcome("Recordings deleted", "There are no recordings on this device now.", nil)
    }
  }

  /// Deletes what is kept of the run that crashed; the current recordings are kept.
  public func discardCrashedRun() async throws(BetaSettingsError) {
    try await perform("Deleting the data of the crash") { [self] _ in
      try await mode.discardPreviousRun()
      return Outcome("Data of the crash deleted", "The recordings of this run are still there.", nil)
    }
  }

  /// Clears the list of recent snapshots; the snapshots themselves are not deleted.
  public func clearRecent() async throws(BetaSettingsError) {
    try await perform("Clearing the list") { [self] _ in
      try await disk.perform { [recent] in try recent.clear() }
      return Outcome("List cleared", "The list of recent snapshots is empty.", nil)
    }
  }

  // MARK: -

  /// Adds `snapshot` to the list. Returns a sentence about the failure if the list can't be saved, otherwise an empty
  /// text.
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
