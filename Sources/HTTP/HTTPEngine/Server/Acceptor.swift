import Logging
import SystemIO

/// Takes connections from an event loop's listening socket, and pauses while descriptors are short. Not
/// thread-safe: its event loop owns it.
///
/// - Invariant: the poller looks at the listener exactly while `resumes` is `nil`.
final class Acceptor {
  private let listener: Socket
  private let poller: Poller
  private let context: ServerContext
  /// When accepting goes on.
  private var resumes: UInt64?
  /// Whether the last connection got one of the descriptors that are kept for files.
  private var isShort = false

  init(_ listener: Socket, poller: Poller, context: ServerContext) throws(SystemError) {
    self.listener = listener
    self.poller = poller
    self.context = context
    try poller.set(.read, for: listener.descriptor)
  }

  var descriptor: Int32 { listener.descriptor }

  /// Whether ``tick(_:)`` is needed for accepting to go on.
  var isPaused: Bool { resumes != nil }

  /// Hands on the connections that wait, or most of them: a flood of new ones leaves time for those that are there.
  func acceptAll(at now: UInt64, _ add: (Socket, SocketAddress) -> Void) {
    for _ in 0..<64 {
      do throws(SystemError) {
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

  /// Whether the next descriptor, which is the lowest that is free, would still be one of those kept for files.
  private func isStillShort() throws(SystemError) -> Bool {
    isShort = Int(try listener.nextDescriptor()) >= context.descriptorCeiling
    return isShort
  }

  /// Time has passed.
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

  /// Accepts nothing more; who still waits is refused by the system.
  func close() {
    setInterest([], at: 0)
    listener.close()
  }
}
