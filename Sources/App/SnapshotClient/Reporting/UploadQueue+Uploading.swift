import Dispatch
import Foundation
import SnapshotFormat
import SystemIO

/// What goes out, and what comes of it.
extension UploadQueue {
  /// Starts every upload that may go out now, and sets the alarm for the first that waits for its time. To be called
  /// after everything that may have changed an answer.
  func pump() {
    // The app's closure is asked without a lock held, so that it may look at the queue.
    var permitted: [SnapshotID: Bool] = [:]
    for item in items {
      if case .waiting = item.state { permitted[item.id] = configuration.network.permits(item) }
    }
    let now = configuration.environment.now()
    change { [permitted] state in
      guard let folder = state.folder, !state.isClosing else { return }
      for item in state.core.takeDue(at: now, permitted: permitted) {
        let (client, generation) = (state.client, state.generation)
        state.running[item.id] = Task(priority: .utility) { [self] in
          await run(item, from: folder, with: client, generation)
        }
      }
      state.alarm?.cancel()
      state.alarm = state.core.nextDue.map { makeAlarm(in: $0.timeIntervalSince(now)) }
    }
  }

  private func makeAlarm(in seconds: Double) -> Task<Void, Never> {
    // It wakes the queue, but does not keep it alive.
    Task(priority: .utility) { [weak self, sleep = configuration.environment.sleep] in
      do { try await sleep(.seconds(max(0, seconds))) } catch { return }
      if !Task.isCancelled { self?.pump() }
    }
  }

  private func run(
    _ item: QueuedUpload, from folder: QueueFolder, with client: SnapshotAPIClient, _ generation: Int
  ) async {
    let id = item.id
    do throws(SnapshotClientError) {
      let bundle = URL(filePath: folder.bundle(of: id))
      try await client.disk.run { (isCancelled) throws(SnapshotClientError) in
        // A disk that can't tell is no reason to give the report up: it is tried again later.
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
        file: bundle, digest: item.sha256, report: item.report, id: id,
        state: URL(filePath: folder.resumption(of: id)))
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
        }
      } else {
        let random = configuration.environment.random()
        await settle(id) { $0.failed(id, error, at: $1, random: random) }
      }
    }
    pump()
  }

  /// Takes what became of the upload `id`, on the disk first.
  private func settle(
    _ id: SnapshotID, _ outcome: @escaping @Sendable (QueueCore, Date) -> QueuedUpload?
  ) async {
    let now = SnapshotJSON.milliseconds(of: configuration.environment.now())
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
      }
      trim(folder)
    }
  }

  /// Notes `item`, and removes a bundle that is not needed any more. On the disk's thread only.
  func keep(_ item: QueuedUpload, in folder: QueueFolder) {
    do throws(SystemError) {
      try folder.save(item)
      if !item.hasBundle { try folder.removeBundle(of: item.id) }
    } catch {
      // A failure that is not noted costs no more than an early try after a relaunch. A bundle that the server has
      // must not take up the room for want of which it can't be noted; if it can't be removed either, it goes out
      // once more, which is harmless.
      guard item.state == .done else { return }
      do throws(SystemError) { try folder.retire(item.id) } catch {}
    }
  }

  /// Takes the oldest outcomes from the list where there are too many. On the disk's thread only.
  func trim(_ folder: QueueFolder) {
    let outcomes = items.filter { $0.state.isFinal && !$0.hasBundle }
      .sorted { ($0.endedAt ?? $0.attachedAt) < ($1.endedAt ?? $1.attachedAt) }
    for item in outcomes.dropLast(max(0, configuration.limits.outcomes)) {
      // What can't be removed now stays in the list and is tried with the next one.
      do throws(SystemError) { try folder.retire(item.id) } catch { continue }
      change { $0.core.remove(item.id) }
    }
  }
}
