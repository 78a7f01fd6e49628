#if os(Linux)
  import Foundation
  import SystemIO
  import TestSupport
  import Testing

  @Suite struct BrokenPipeTests {
    @Test func `sending a file to a closed connection fails without ending the process`() async {
      await #expect(processExitsWith: .success) {
        signal(SIGPIPE, SIG_DFL)
        let listener = try Socket.listeners(at: SocketAddress(.loopback, port: 0), count: 1)[0]
        let client = try RawHTTPClient(port: try listener.localAddress.port)
        let poller = try Poller()
        try poller.set(.read, for: listener.descriptor)
        try poller.wait(milliseconds: 10_000) { _ in }
        let socket = try #require(try listener.accept()).socket
        try socket.shutdownSending()
        let file = try File(#filePath)
        var failure: SystemError?
        ProcessSignals.withoutBrokenPipe {
          do throws(SystemError) { _ = try socket.send(file, offset: 0, count: 10) } catch { failure = error }
        }
        #expect(failure?.isDisconnected == true)
        _ = client
        // No pending signal is left that could end the process now.
        var pending = sigset_t()
        sigpending(&pending)
        #expect(sigismember(&pending, SIGPIPE) == 0)
      }
    }
  }
#endif
