import Foundation
import Redaction
import SnapshotFormat
import SnapshotSealing
import SystemIO

/// Packs, activates and removes snapshots, and stores the state for the next launch.
final class SnapshotWorker: Sendable {
  /// Work on this queue can wait for the recorder's queue. The reverse would deadlock.
  private let queue = WorkQueue("snapshots")
  private let storage: Storage
  private let recorder: Recorder
  private let state: ModeState
  private let redactor: Redactor
  private let limits: SnapshotMode.Limits
  private let sealing: SnapshotMode.Sealing?
  private let onEvent: @Sendable (SnapshotMode.Event) -> Void

  /// What goes into a snapshot.
  struct Choice: Sendable {
    var run: SnapshotMode.Run
    /// Identifiers of recordings, and names of attachments after `attachments/`.
    var excluded: Set<String> = []
    /// Files that only this snapshot has, by their names.
    var attachments: [String: Data] = [:]

    init(of run: SnapshotMode.Run, excluded: Set<String> = [], attachments: [String: Data] = [:]) {
      self.run = run
      self.excluded = excluded
      self.attachments = attachments
    }
  }

  init(
    _ storage: Storage, _ recorder: Recorder, _ state: ModeState, _ redactor: Redactor,
    _ configuration: SnapshotMode.Configuration
  ) {
    self.storage = storage
    self.recorder = recorder
    self.state = state
    self.redactor = redactor
    limits = configuration.limits
    sealing = configuration.sealing
    onEvent = configuration.onEvent
  }

  /// Packs what `choice` names into a bundle, which is sealed if the configuration says so. `unfilled` is its manifest without the recordings and applied redaction
  /// rules.
  func makeSnapshot(
    _ choice: Choice, _ unfilled: Manifest, to zip: URL
  ) async throws(BundleError) -> SnapshotBundle.Packed {
    try await queue.run { [self] () throws(BundleError) in
      let folder = storage.frozen + "/\(unfilled.id)"
      defer { remove(folder) }
      var frozen: RecordingStore.Frozen
      do throws(SystemError) {
        frozen = try recorder.queue.sync { () throws(SystemError) in
          try recorder.freeze(choice.run, without: choice.excluded, into: folder)
        }
        for (name, data) in choice.attachments.sorted(by: { $0.key < $1.key }) {
          try add(data, as: name, to: &frozen, in: folder + "/attachments/")
        }
      } catch {
        throw .system(error)
      }
      var manifest = unfilled
      manifest.redactions = frozen.redactions
      manifest.dropped = frozen.dropped
      manifest.span = Manifest.Span(of: frozen.sources.map { ($0.recordedAt, $0.exchange) })
      let (sources, attachments) = (frozen.sources, frozen.attachments)
      return try seal(zip) { file throws(BundleError) in
        try SnapshotBundle.pack(sources, attachments: attachments, describedBy: manifest, to: file)
      }
    }
  }

  /// Makes the bundle `zip` by `pack`. If it is to be sealed, the clear one is only in the app's own folder meanwhile.
  private func seal(
    _ zip: URL, _ pack: (URL) throws(BundleError) -> SnapshotBundle.Packed
  ) throws(BundleError) -> SnapshotBundle.Packed {
    guard let sealing else { return try pack(zip) }
    let clear = storage.frozen + "/\(SnapshotID()).zip"
    defer { remove(clear) }
    _ = try pack(URL(filePath: clear))
    do {
      return try SnapshotBundle.seal(
        zip: URL(filePath: clear), to: sealing.recipients, showing: sealing.head, to: zip)
    } catch {
      guard case .sealing(let reason) = error, !sealing.isRequired else { throw error }
      onEvent(.init(.notSealed, "\(reason)"))
      return try pack(zip)
    }
  }

  /// Redacts `data`, and writes it as an attachment of one snapshot. What can't be stored is reported and listed.
  private func add(
    _ data: Data, as text: String, to frozen: inout RecordingStore.Frozen, in folder: String
  ) throws(SystemError) {
    let identifier = "attachments/" + text
    func drop(_ why: Manifest.Dropped.Reason, _ kind: SnapshotMode.Event.Kind, _ reason: String) {
      frozen.dropped.append(.init(identifier: identifier, reason: why, count: 1, bytes: Int64(data.count)))
      onEvent(.init(kind, identifier: identifier, reason))
    }
    guard let name = AttachmentName(text) else {
      return drop(.unwritable, .recordingRefused, "this is not a valid name of an attachment")
    }
    guard data.count <= limits.recordingBytes else {
      return drop(
        .tooLarge, .recordingRefused, "it has \(data.count) bytes; the limit is \(limits.recordingBytes)")
    }
    let redacted: Data
    do {
      redacted = try redactor.redact(data, as: identifier)
    } catch {
      return drop(error.reason, .redactionFailed, "\(error)")
    }
    let path = folder + name.file
    try Folder.removeIfPresent(path)
    try File(path, .create(mode: 0o600)).write(Array(redacted), at: 0)
    frozen.attachments.removeAll { $0.name == name.text }
    frozen.attachments.append(.init(name: name.text, file: URL(filePath: path)))
    let rules = redactor.names(for: identifier).filter { !frozen.redactions.contains($0) }
    frozen.redactions += rules
  }

  /// Unpacks the bundle at `zip`, which one of `identities` opens if it is sealed, and replays it.
  func activate(_ zip: URL, _ identities: [SealingIdentity]) async throws(BundleError) -> Manifest {
    try await queue.run { [self] () throws(BundleError) in
      // A new folder, even if the same snapshot is already active.
      let id = SnapshotID()
      let folder = storage.snapshots + "/\(id)"
      do throws(SystemError) { try Folder.create(storage.snapshots) } catch { throw .system(error) }
      let manifest = try unpack(zip, identities, into: folder)
      let snapshot = ActiveSnapshot(id: id, manifest: manifest, folder: folder)
      do throws(SystemError) { try commit(.replaying, snapshot) } catch { throw .system(error) }
      return manifest
    }
  }

  private func unpack(
    _ zip: URL, _ identities: [SealingIdentity], into folder: String
  ) throws(BundleError) -> Manifest {
    guard !identities.isEmpty, SnapshotBundle.sealedContents(of: zip) != nil else {
      return try SnapshotBundle.unpack(zip: zip, into: URL(filePath: folder))
    }
    let clear = folder + ".zip"
    defer { remove(clear) }
    _ = try SnapshotBundle.unseal(zip: zip, with: identities, to: URL(filePath: clear))
    return try SnapshotBundle.unpack(zip: URL(filePath: clear), into: URL(filePath: folder))
  }

  /// Stops replaying the active snapshot.
  func deactivate() async throws(SystemError) {
    try await queue.run { [self] () throws(SystemError) in
      let (stored, active) = state.read { ($0.stored, $0.active) }
      guard active != nil else { return }
      try commit(stored == .replaying ? .disabled : stored, nil)
    }
  }

  // MARK: - State and snapshot

  /// Stores `newState` and `active` for the next launch, then applies them to this one. Only on ``queue``.
  private func commit(_ newState: SnapshotMode.State, _ active: ActiveSnapshot?) throws(SystemError) {
    try recorder.queue.sync { () throws(SystemError) in
      do throws(SystemError) {
        try StoredMode(state: newState, active: active?.id).save(in: storage)
      } catch {
        // The new file may be in place despite the error. The folder that it names is removed only if the old file
        // could be restored.
        if saveMode(), let active { remove(storage.snapshots + "/\(active.id)") }
        throw error
      }
      let former = state.read { $0.active }
      state.change { core in
        core.stored = newState
        core.active = active
      }
      if let former {
        let folder = storage.snapshots + "/\(former.id)"
        former.retire { [self] in queue.async { [self] in remove(folder) } }
      }
    }
  }

  /// Stores state and snapshot for the next launch, and returns whether that succeeded. Only on the recorder's queue.
  @discardableResult
  func saveMode() -> Bool {
    let mode = state.read { StoredMode(state: $0.stored, active: $0.active?.id) }
    do {
      try mode.save(in: storage)
      return true
    } catch {
      onEvent(.init(.stateNotSaved, "\(error)"))
      return false
    }
  }

  // MARK: - Cleaning up

  /// Removes the files of an interrupted launch. Called once, before any other work on the queues.
  func removeLeftovers() {
    // Listed before the queue runs, so that snapshots activated later are not taken for leftovers.
    let active = state.read { $0.active?.id }
    let snapshots = entries(of: storage.snapshots).filter { $0 != active?.description }
      .map { storage.snapshots + "/" + $0 }
    let frozen = entries(of: storage.frozen).map { storage.frozen + "/" + $0 }
    queue.async { [self] in
      for folder in frozen + snapshots { remove(folder) }
    }
    recorder.queue.async { [self] in
      remove(storage.previous + ".staged")
      for folder in [storage.folder, storage.identifiers] {
        for name in entries(of: folder) where name.hasSuffix(".staged") { remove(folder + "/" + name) }
      }
    }
  }

  private func entries(of folder: String) -> [String] {
    do {
      return try Folder.entries(folder)
    } catch  where error.isNotFound {
      return []
    } catch {
      onEvent(.init(.leftover, "\(error)"))
      return []
    }
  }

  private func remove(_ path: String) {
    do { try Folder.removeTree(path) } catch { onEvent(.init(.leftover, "\(error)")) }
  }
}
