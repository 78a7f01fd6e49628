import Dispatch
import Synchronization

/// Lines on their way to the log, written in order on a queue of their own.
///
/// When nobody takes them the oldest ``limit`` wait and what comes then is dropped, and counted in a line of its own
/// once there is room: a log never fills the memory.
final class LogQueue: Sendable {
  /// The most lines that wait.
  let limit: Int
  private let queue = DispatchQueue(label: "log")
  private let output: @Sendable (String) -> Void
  private let state = Mutex((waiting: 0, dropped: 0))

  /// A queue that hands its lines to `output`, one at a time.
  init(limit: Int = 10_000, output: @escaping @Sendable (String) -> Void) {
    self.limit = limit
    self.output = output
  }

  /// Has `makeLine` make a line, later and elsewhere, and writes it.
  func write(_ makeLine: @escaping @Sendable () -> String) {
    let dropped: Int? = state.withLock { state in
      guard state.waiting < limit else {
        state.dropped += 1
        return nil
      }
      state.waiting += 1
      defer { state.dropped = 0 }
      return state.dropped
    }
    guard let dropped else { return }
    queue.async { [self] in
      if dropped > 0 { output("{\"level\":\"warning\",\"message\":\"\(dropped) log events were dropped\"}") }
      output(makeLine())
      state.withLock { $0.waiting -= 1 }
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
