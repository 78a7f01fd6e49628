import Foundation
import HTTPClient
import SnapshotFormat
import SystemIO

/// What the system sends while the app is suspended or does not run.
extension UploadQueue {
  /// The maximum time, in seconds, for which ``handleBackgroundEvents()`` waits. The system expects it to end within about
  /// half a minute.
  static let longestWakeUp: Double = 20

  /// Processes the events for which the system has woken or launched the app.
  ///
  /// Call it in the task for the session's identifier of `Configuration.background`:
  ///
  ///     .backgroundTask(.urlSession("snapshots")) { await reporter.queue.handleBackgroundEvents() }
  ///
  /// It returns when the state of all uploads is stored and nothing is left to do until the system has sent the next
  /// pieces, but after 20 s at the latest. Without `Configuration.background`, it returns immediately.
  public func handleBackgroundEvents() async {
    guard let background = configuration.background else { return }
    await withTaskGroup { group in
      group.addTask { [self] in
        await background.transport.eventsEnd()
        await rest()
      }
      group.addTask { [sleep = configuration.environment.sleep] in
        do { try await sleep(.seconds(Self.longestWakeUp)) } catch {
          // Everything is stored already.
        }
      }
      await group.next()
      group.cancelAll()
    }
  }

  /// Continues the uploads whose pieces the system has from an earlier process, before all others.
  func takeOver(_ background: BackgroundUploads) async {
    for name in await background.transport.names() {
      let piece = BackgroundPiece(name)
      let isTaken = change { state in
        guard let piece, state.core.takeOver(piece.id) else { return false }
        state.pieces[piece.id] = piece
        return true
      }
      if !isTaken { background.transport.cancel(name) }
    }
    pump(endsTakeOver: true)
  }

  /// Prepares the upload of `item` to let the system send its pieces.
  /// - Returns: a client for the upload, and the piece that the system has from an earlier process.
  func inBackground(
    _ item: QueuedUpload, _ client: SnapshotAPIClient, _ background: BackgroundUploads,
    from folder: QueueFolder
  ) -> (client: SnapshotAPIClient, former: BackgroundPiece?) {
    let former = change { $0.pieces[item.id] }
    let pieces = BackgroundPieces(
      background: background.transport, direct: client.transport, id: item.id, folder: folder, disk: disk,
      former: former,
      started: { [weak self] piece in
        self?.change { $0.pieces[item.id] = piece }
        self?.endRest()
      })
    let size = background.pieceBytes(afterFailures: item.failures)
    return (client.sending(through: pieces, pieceBytes: size), former)
  }

  /// Ends what the system sends of the bundle of `id`.
  func cancelPieces(of id: SnapshotID) async {
    guard let transport = configuration.background?.transport else { return }
    for name in await transport.names() where BackgroundPiece(name)?.id == id { transport.cancel(name) }
  }

  /// Waits until no upload needs the app now.
  private func rest() async {
    let (stream, waiter) = AsyncStream<Never>.makeStream()
    change { $0.resting.append(waiter) }
    endRest()
    for await _ in stream {}
  }

  /// Ends the waits for a time at which no upload needs the app, if that is now.
  func endRest() {
    guard let transport = configuration.background?.transport else { return }
    change { state in
      let isBusy =
        state.isTakingOver
        || state.running.keys.contains { id in
          state.pieces[id].map { !transport.isUnderWay($0.description) } ?? true
        }
      guard !isBusy || state.isClosing else { return }
      for waiter in state.resting { waiter.finish() }
      state.resting = []
    }
  }
}
