import Dispatch
import Foundation
import SystemIO

/// Writes log lines in order on a queue of its own, all waiting lines at once, at most once per ``pause``. A busy server
/// therefore wakes the queue's thread once for many lines.
///
/// If the output blocks, at most ``limit`` lines wait. Later ones are dropped, and their number is logged as soon as
/// there is room. The log therefore never fills the memory.
final class LogQueue: Sendable {
  typealias MakeLine = @Sendable () -> String

  private struct State {
    var lines: [MakeLine] = []
    /// The number of waiting lines, including those that are being written.
    var waiting = 0
    var dropped = 0

    mutating func add(_ makeLine: @escaping MakeLine) {
      lines.append(makeLine)
      waiting += 1
    }
  }

  /// The time in seconds between two writes.
  private static let pause: TimeInterval = 0.001

  /// The maximum number of waiting lines.
  let limit: Int
  private let queue = DispatchQueue(label: "log")
  private let output: @Sendable (String) -> Void
  private let state = Lock(State())

  /// Creates a queue. `output` is called with one or more lines, separated by line breaks.
  init(limit: Int = 10_000, output: @escaping @Sendable (String) -> Void) {
    self.limit = limit
    self.output = output
  }

  /// Enqueues a line. `makeLine` is called later on the queue.
  func write(_ makeLine: @escaping MakeLine) {
    let wasIdle = state.withLock { state in
      guard state.waiting < limit else {
        state.dropped += 1
        return false
      }
      let wasIdle = state.waiting == 0
      if state.dropped > 0 {
        let dropped = state.dropped
        state.add { "{\"level\":\"warning\",\"message\":\"\(dropped) log events were dropped\"}" }
        state.dropped = 0
      }
      state.add(makeLine)
      return wasIdle
    }
    if wasIdle { queue.async { self.writeOut() } }
  }

  /// Writes until no line waits.
  private func writeOut() {
    var written = 0
    while true {
      let lines = state.withLock { state in
        state.waiting -= written
        let lines = state.lines
        state.lines = []
        return lines
      }
      guard !lines.isEmpty else { return }
      output(lines.map { $0() }.joined(separator: "\n"))
      written = lines.count
      Thread.sleep(forTimeInterval: Self.pause)
    }
  }

  /// Waits until all lines enqueued before are written, but no longer than `time`, because the output can be blocked
  /// permanently.
  func flush(within time: DispatchTimeInterval = .seconds(2)) {
    let rest = DispatchGroup()
    queue.async(group: rest) {}
    _ = rest.wait(timeout: .now() + time)
  }
}
