import Foundation
import SystemIO
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct ServiceManagerTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `a state waits until a service manager with too many unread messages takes it`() async throws {
    let socket = try NotifySocket(in: folder)
    let manager = ServiceManager(["NOTIFY_SOCKET": socket.path])
    var unread = 0
    do {
      while unread < 10_000 {
        try manager.tell(.alive)
        unread += 1
      }
      Issue.record("The system keeps 10,000 messages.")
    } catch {
      #expect(error.code == EAGAIN || error.code == ENOBUFS)
    }
    let begun = Signal()
    async let told: Void = withCheckedThrowingContinuation { continuation in
      Thread {
        begun.fire()
        continuation.resume(with: Result { try manager.tell(.ready) })
      }.start()
    }
    await begun.wait()
    let messages = socket.messages()
    #expect(try await messages.wait(for: "READY=1") == Array(repeating: "WATCHDOG=1", count: unread))
    try await told
  }

  @Test func `without a socket nothing is sent`() throws {
    try ServiceManager([:]).tell(.ready)
    try ServiceManager(["NOTIFY_SOCKET": "relative"]).tell(.ready)
  }
}
