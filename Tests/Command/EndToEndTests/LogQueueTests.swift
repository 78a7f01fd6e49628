import Dispatch
import Foundation
import SystemIO
import Testing

@testable import snapshot

@Suite struct LogQueueTests {
  @Test(arguments: [(9, 0), (10, 0), (11, 1), (25, 15)])
  func `lines beyond the limit are dropped and counted`(written: Int, dropped: Int) {
    let gate = DispatchSemaphore(value: 0)
    let lines = Lock<[String]>([])
    let queue = LogQueue(limit: 10) { text in
      gate.wait()
      gate.signal()
      lines.withLock { $0 += text.split(separator: "\n").map(String.init) }
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

  @Test func `flushing does not wait forever for a blocked output`() {
    let gate = DispatchSemaphore(value: 0)
    let queue = LogQueue { _ in gate.wait() }
    queue.write { "stuck" }
    queue.flush(within: .milliseconds(1))
    gate.signal()
    queue.flush(within: .seconds(60))
  }

  @Test func `waiting lines are written together and in order`() {
    let gate = DispatchSemaphore(value: 0)
    let texts = Lock<[String]>([])
    let queue = LogQueue { text in
      gate.wait()
      gate.signal()
      texts.withLock { $0.append(text) }
    }
    for number in 0..<100 { queue.write { "\(number)" } }
    gate.signal()
    queue.flush(within: .seconds(60))
    #expect(
      texts.withLock { $0.joined(separator: "\n") } == (0..<100).map { "\($0)" }.joined(separator: "\n"))
    #expect(texts.withLock { $0.count } < 100)
  }

  @Test func `a JSON line can contain any text`() throws {
    let values = [
      "plain": "GET /v1", "quoted": #"a"b\c"#, "controls": "\0\t\n\r\u{1F}\u{7F}",
      "other": "Ärger ☃ \u{2028}🦋",
      #"k"ey"#: "",
    ]
    let line = LogLine.json(values)
    #expect(try JSONDecoder().decode([String: String].self, from: Data(line.utf8)) == values)
    #expect(line.utf8.allSatisfy { $0 >= 0x20 })
    #expect(LogLine.json([:]) == "{}")
    #expect(LogLine.json(["b": "2", "a": "1"]) == #"{"a":"1","b":"2"}"#)
  }

  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (-0.001, "1969-12-31T23:59:59.999Z"),
      (1_790_000_000.25, "2026-09-21T14:13:20.250Z"), (1_790_000_000.999, "2026-09-21T14:13:20.999Z"),
    ])
  func `a line's time has milliseconds`(seconds: Double, text: String) {
    #expect(LogTime.text(of: Date(timeIntervalSince1970: seconds)) == text)
  }

  @Test func `control characters are escaped`() {
    #expect(Console.escaped("Ärger ☃ 1") == "Ärger ☃ 1")
    #expect(Console.escaped("a\nb\u{1B}[31m\u{202E}\u{2028}") == "a\\nb\\u{1B}[31m\\u{202E}\\u{2028}")
  }

  @Test(
    arguments: [
      (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_449_000, "1.4 MB"), (999_960, "1.0 MB"),
      (5_000_000_000, "5.0 GB"),
    ] as [(Int64, String)])
  func `sizes are formatted with units`(bytes: Int64, text: String) {
    #expect(Console.size(bytes) == text)
  }
}
