public import Foundation
public import SnapshotFormat
public import SystemIO

extension SnapshotMode {
  /// Makes a bundle of what is recorded here, under a new ``SnapshotID``, and writes it to `zip`.
  ///
  /// It holds what was recorded and attached up to the call; recording goes on meanwhile. The file is there whole or
  /// not at all.
  /// - Parameter report: the bug report that the snapshot is for, where it is known already.
  public func makeSnapshot(
    report: ReportID? = nil, to zip: URL
  ) async throws(BundleError) -> SnapshotBundle.Packed {
    let unfilled = Manifest(
      id: SnapshotID(), createdAt: configuration.clock(), application: configuration.application,
      device: configuration.device, report: report, modules: redactedModules)
    return try await worker.run { [self] () throws(BundleError) in
      let folder = storage.frozen + "/\(unfilled.id)"
      defer { remove(folder) }
      let frozen: Recorder.Frozen
      do throws(SystemError) {
        frozen = try recorder.queue.sync { () throws(SystemError) in try recorder.freeze(into: folder) }
      } catch {
        throw .system(error)
      }
      var manifest = unfilled
      manifest.redactions = frozen.redactions
      return try SnapshotBundle.pack(
        frozen.sources, attachments: frozen.attachments, describedBy: manifest, to: zip)
    }
  }

  /// Checks the bundle at `zip` whole, unpacks it, and replays it from then on, across launches.
  ///
  /// Each call of ``process(data:uniqueIdentifier:)`` sees the former snapshot and state or the new ones, never a
  /// mixture; so does the next launch after a crash at any point. When it throws, nothing has changed. Where
  /// ``isStateForced``, the snapshot is active, and replayed as soon as a launch has the state for it.
  /// - Returns: the manifest.
  @discardableResult
  public func activate(bundle zip: URL) async throws(BundleError) -> Manifest {
    try await worker.run { [self] () throws(BundleError) in
      // A folder of its own even for a snapshot that is active already.
      let id = SnapshotID()
      let folder = storage.snapshots + "/\(id)"
      do throws(SystemError) { try Folder.create(storage.snapshots) } catch { throw .system(error) }
      let manifest = try SnapshotBundle.unpack(zip: zip, into: URL(filePath: folder))
      let snapshot = ActiveSnapshot(id: id, manifest: manifest, folder: folder)
      do throws(SystemError) { try commit(.replaying, snapshot) } catch { throw .system(error) }
      return manifest
    }
  }

  /// Stops replaying the active snapshot and forgets it; a state of ``State/replaying`` becomes ``State/disabled``.
  /// When it throws, nothing has changed.
  public func deactivate() async throws(SystemError) {
    try await worker.run { [self] () throws(SystemError) in
      let (state, active) = withCore { ($0.stored, $0.active) }
      guard active != nil else { return }
      try commit(state == .replaying ? .disabled : state, nil)
    }
  }

  /// Removes what is recorded and attached here; the active snapshot stays.
  public func clear() async throws(SystemError) {
    try await recorder.queue.run { [self] () throws(SystemError) in try recorder.clear() }
  }

  // MARK: - State and snapshot

  /// Makes `state` and `active` those of the next launch, then those of this one. On ``worker`` only.
  private func commit(_ state: State, _ active: ActiveSnapshot?) throws(SystemError) {
    try recorder.queue.sync { () throws(SystemError) in
      do throws(SystemError) {
        try StoredMode(state: state, active: active?.id).save(in: storage)
      } catch {
        // The new file may stand there all the same: only once the old one is back may what it names go.
        if saveMode(), let active { remove(storage.snapshots + "/\(active.id)") }
        throw error
      }
      let former = withCore { $0.active }
      change { core in
        core.stored = state
        core.active = active
      }
      if let former {
        let folder = storage.snapshots + "/\(former.id)"
        former.retire { [self] in worker.async { [self] in remove(folder) } }
      }
    }
  }

  /// Keeps state and snapshot for the next launch. On the recorder's queue only.
  @discardableResult
  func saveMode() -> Bool {
    let mode = withCore { StoredMode(state: $0.stored, active: $0.active?.id) }
    do {
      try mode.save(in: storage)
      return true
    } catch {
      configuration.onEvent(.init(.stateNotSaved, "\(error)"))
      return false
    }
  }

  // MARK: - Cleaning up

  /// Removes what a launch that was cut short has left: once, before anything else is done on the queues.
  func removeLeftovers() {
    // Looked for at once, so that nothing is taken for a leftover that was activated since.
    let active = withCore { $0.active?.id }
    let snapshots = entries(of: storage.snapshots).filter { $0 != active?.description }
      .map { storage.snapshots + "/" + $0 }
    let frozen = entries(of: storage.frozen).map { storage.frozen + "/" + $0 }
    worker.async { [self] in
      for folder in frozen + snapshots { remove(folder) }
    }
    recorder.queue.async { [self] in
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
      configuration.onEvent(.init(.leftover, "\(error)"))
      return []
    }
  }

  private func remove(_ path: String) {
    do { try Folder.removeTree(path) } catch { configuration.onEvent(.init(.leftover, "\(error)")) }
  }
}
