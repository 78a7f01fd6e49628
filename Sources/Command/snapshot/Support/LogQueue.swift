import Dispatch
import Synchronization

/// Lines on their way to the log, written in order on a queue of their own, all that wait at once.
///
/// When nobody takes them the oldest ``limit`` wait and what comes then is dropped, and counted in a line of its own
/// once there is room: a log never fills the memory.
final class LogQueue: Sendable {
  typealias MakeLine = @Sendable () -> String

  private struct State {
    var lines: [MakeLine] = []
    /// How many wait, those that are being written included.
    var waiting = 0
    var dropped = 0

    mutating func add(_ makeLine: @escaping MakeLine) {
      lines.append(makeLine)
      waiting += 1
    }
  }

  /// The most lines that wait.
  let limit: Int
  private let queue = DispatchQueue(label: "log")
  private let output: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// A queue that hands its lines to `output`: one or several, parted by line ends, at a time.
  init(limit: Int = 10_000, output: @escaping @Sendable (String) -> Void) {
    self.limit = limit
    self.output = output
  }

  /// Has `makeLine` make a line, later and elsewhere, and writes it.
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

  /// Writes until nothing waits.
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
    }
  }

  /// Waits until everything that was written before is out, but no longer than `time`: where nobody takes the lines
  /// any more, nothing waits for them for ever.
  func flush(within time: DispatchTimeInterval = .seconds(2)) {
    let rest = DispatchGroup()
    queue.async(group: rest) {}
    _ = rest.wait(timeout: .now() + time)
  }
}
