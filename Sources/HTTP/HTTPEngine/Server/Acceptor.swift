import Logging
import SystemIO

/// Accepts connections from an event loop's listening socket. Pauses while few descriptors are free. Not thread-safe:
/// owned by its event loop.
///
/// - Invariant: the poller watches the listener if and only if `resumes` is `nil`.
final class Acceptor {
  private let listener: Socket
  private let poller: Poller
  /// Replaced together with the event loop's.
  var context: ServerContext
  /// When to resume accepting.
  private var resumes: UInt64?
  /// Whether the last connection got one of the descriptors reserved for files.
  private var isShort = false

  init(_ listener: Socket, poller: Poller, context: ServerContext) throws(SystemError) {
    self.listener = listener
    self.poller = poller
    self.context = context
    try poller.set(.read, for: listener.descriptor)
  }

  var descriptor: Int32 { listener.descriptor }

  /// Whether accepting resumes with ``tick(_:)``.
  var isPaused: Bool { resumes != nil }

  /// Accepts the waiting connections, but a limited number at once, so that a flood of new connections does not block
  /// the existing ones.
  func acceptAll(at now: UInt64, _ add: (Socket, SocketAddress?) -> Void) {
    for _ in 0..<64 {
      do {
        if isShort, try isStillShort() { return pause(at: now) }
        guard let (socket, peer) = try listener.accept() else { return }
        isShort = Int(socket.descriptor) >= context.descriptorCeiling
        if isShort { context.logger.warning("accepting pauses: few descriptors are left") }
        add(socket, peer)
      } catch {
        context.logger.warning("accepting pauses: \(error)")
        return pause(at: now)
      }
    }
  }

  /// Whether the next descriptor, which is the lowest free one, would be one of those reserved for files.
  private func isStillShort() throws(SystemError) -> Bool {
    isShort = Int(try listener.nextDescriptor()) >= context.descriptorCeiling
    return isShort
  }

  /// Resumes accepting if the pause is over.
  func tick(_ now: UInt64) {
    guard let resumes, resumes <= now else { return }
    self.resumes = nil
    setInterest(.read, at: now)
  }

  private func pause(at now: UInt64) {
    resumes = now + context.limits.acceptPause.milliseconds
    setInterest([], at: now)
  }

  private func setInterest(_ interest: Poller.Interest, at now: UInt64) {
    do {
      try poller.set(interest, for: listener.descriptor)
    } catch {
      context.logger.error("listener: \(error)")
      resumes = now + context.limits.acceptPause.milliseconds
    }
  }

  /// Stops accepting. The system refuses waiting connections, unless another process has the same socket.
  func close() {
    setInterest([], at: 0)
    listener.close()
  }
}
