import Dispatch
import Foundation
import SnapshotFormat
import SystemIO

/// Running the uploads.
extension UploadQueue {
  /// Starts all uploads that can run now, and sets the alarm for the next one that waits for its time. Must be called
  /// after every change that can affect this.
  /// - Parameter endsTakeOver: whether the uploads of an earlier process are known now. Those that go on are started in
  ///   the same moment, so that nobody finds the queue at rest in between.
  func pump(endsTakeOver: Bool = false) {
    // The app's closure is called without a lock, so that it can access the queue.
    var permitted: [SnapshotID: Bool] = [:]
    for item in items {
      if case .waiting = item.state { permitted[item.id] = configuration.network.permits(item) }
    }
    change { [permitted] state in
      if endsTakeOver { state.isTakingOver = false }
      guard let folder = state.folder, !state.isClosing, !state.isTakingOver else { return }
      // Read under the lock, so that no later call has already used a later setting of the clock.
      let now = configuration.environment.now()
      for item in state.core.takeDue(at: now, permitted: permitted) {
        let (client, generation) = (state.client, state.generation)
        state.running[item.id] = Task(priority: .utility) { [self] in
          await run(item, from: folder, with: client, generation)
        }
      }
      state.alarm?.cancel()
      state.alarm = state.core.nextDue.map { makeAlarm(in: $0.timeIntervalSince(now)) }
    }
    endRest()
  }

  private func makeAlarm(in seconds: Double) -> Task<Void, Never> {
    // The task holds the queue weakly, so that it does not keep the queue alive.
    Task(priority: .utility) { [weak self, sleep = configuration.environment.sleep] in
      do { try await sleep(.seconds(max(0, seconds))) } catch { return }
      if !Task.isCancelled { self?.pump() }
    }
  }

  private func run(
    _ item: QueuedUpload, from folder: QueueFolder, with client: SnapshotAPIClient, _ generation: Int
  ) async {
    let id = item.id
    var client = client
    var underWay: BackgroundPiece?
    if let background = configuration.background {
      (client, underWay) = inBackground(item, client, background, from: folder)
    }
    do {
      let bundle = URL(filePath: folder.bundle(of: id))
      try await client.disk.run { (isCancelled) throws(SnapshotClientError) in
        // If the disk can't be read, the upload is retried later instead of failing permanently.
        let kind: OpenFolder.Status.Kind?
        do throws(SystemError) {
          kind = try Folder.kind(of: bundle.path)
        } catch {
          throw SnapshotClientError(.file, error.description, cause: error)
        }
        guard kind == .file, try FileDigest.compute(bundle, isCancelled: isCancelled) == item.sha256
        else { throw SnapshotClientError(.bundleDamaged) }
      }
      let outgoing = OutgoingBundle(
        file: bundle, digest: .known(item.sha256), report: item.report, id: id,
        state: URL(filePath: folder.resumption(of: id)), underWay: underWay)
      let listener = UploadListener(
        progress: { [weak self] progress in self?.change { $0.core.progressed(id, progress) } },
        kept: { [weak self] count in self?.change { $0.core.kept(count, of: id) } })
      _ = try await client.upload(outgoing, listener)
      await settle(id) { $0.succeeded(id, at: $1) }
    } catch {
      let isOutdated = change { $0.generation != generation } && UploadVerdict(error) == .needsToken
      if error.code == .cancelled || isOutdated {
        change { state in
          state.core.stopped(id)
          state.running[id] = nil
          state.pieces[id] = nil
        }
      } else {
        let random = configuration.environment.random()
        await settle(id) { $0.failed(id, error, at: $1, random: random) }
      }
    }
    pump()
  }

  /// Stores the result of the upload `id`, first on disk.
  private func settle(
    _ id: SnapshotID, _ outcome: @escaping @Sendable (QueueCore, Date) -> QueuedUpload?
  ) async {
    let now = SnapshotJSON.milliseconds(of: configuration.environment.now())
    await cancelPieces(of: id)
    await disk.perform { [self] in
      guard
        let (item, folder) = change({ state in
          outcome(state.core, now).flatMap { item in state.folder.map { (item, $0) } }
        })
      else { return }
      keep(item, in: folder)
      change { state in
        state.core.settle(item)
        state.running[id] = nil
        state.pieces[id] = nil
      }
      trim(folder)
    }
  }

  /// Writes the state of `item`, and removes its bundle if it is no longer needed. Must run on the disk queue.
  func keep(_ item: QueuedUpload, in folder: QueueFolder) {
    do {
      try folder.save(item)
      if !item.hasBundle { try folder.removeBundle(of: item.id) }
    } catch {
      // If a failure can't be written, the only effect is an early attempt after a relaunch. If a success can't be
      // written because the disk is full, its bundle must be removed to free space. If that fails too, the bundle is
      // uploaded again, which is harmless.
      guard item.state == .done else { return }
      do throws(SystemError) { try folder.retire(item.id) } catch {}
    }
  }

  /// Removes the oldest outcomes from the list if there are too many. Must run on the disk queue.
  func trim(_ folder: QueueFolder) {
    let outcomes = items.filter { $0.state.isFinal && !$0.hasBundle }
      .sorted { ($0.endedAt ?? $0.attachedAt) < ($1.endedAt ?? $1.attachedAt) }
    for item in outcomes.dropLast(max(0, configuration.limits.outcomes)) {
      // An outcome that can't be removed now stays in the list until the next call.
      do { try folder.retire(item.id) } catch { continue }
      change { $0.core.remove(item.id) }
    }
  }
}
