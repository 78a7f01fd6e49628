import Dispatch
import Synchronization
import Testing

@testable import snapshot

@Suite struct LogQueueTests {
  @Test(arguments: [(9, 0), (10, 0), (11, 1), (25, 15)])
  func `what a log does not take in time is dropped and counted`(written: Int, dropped: Int) {
    let gate = DispatchSemaphore(value: 0)
    let lines = Mutex<[String]>([])
    let queue = LogQueue(limit: 10) { line in
      gate.wait()
      gate.signal()
      lines.withLock { $0.append(line) }
    }
    for number in 0..<written { queue.write { "\(number)" } }
    gate.signal()
    queue.flush(within: .seconds(60))
    queue.write { "last" }
    queue.flush(within: .seconds(60))
    let notice = dropped > 0 ? [#"{"level":"warning","message":"\#(dropped) log events were dropped"}"#] : []
    let expected = (0..<min(written, 10)).map { "\($0)" } + notice + ["last"]
    #expect(lines.withLock { $0 } == expected)
  }

  @Test func `the end doesn't wait for a log that nobody takes`() {
    let gate = DispatchSemaphore(value: 0)
    let queue = LogQueue { _ in gate.wait() }
    queue.write { "stuck" }
    queue.flush(within: .milliseconds(1))
    gate.signal()
    queue.flush(within: .seconds(60))
  }

  @Test func `nothing of a text steers a terminal or begins a line`() {
    #expect(Console.escaped("Ärger ☃ 1") == "Ärger ☃ 1")
    #expect(Console.escaped("a\nb\u{1B}[31m\u{202E}\u{2028}") == "a\\nb\\u{1B}[31m\\u{202E}\\u{2028}")
  }

  @Test(
    arguments: [
      (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_449_000, "1.4 MB"), (999_960, "1.0 MB"),
      (5_000_000_000, "5.0 GB"),
    ] as [(Int64, String)])
  func `sizes are shown as people say them`(bytes: Int64, text: String) {
    #expect(Console.size(bytes) == text)
  }
}
