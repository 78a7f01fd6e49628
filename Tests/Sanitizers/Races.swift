import Foundation
import Synchronization

/// Increments a counter in four threads to verify the reports of ThreadSanitizer. With `held`, all threads lock the
/// mutex and there must be no report. With `beside`, one thread does not, and with `unlocked` none does; both must be
/// reported.
final class Counter: Sendable {
  let lock = Mutex(0)
  let begun = Atomic(0)
  let ended = Atomic(0)
  nonisolated(unsafe) var count = 0

  func run(_ kind: String) {
    for number in 0..<4 {
      Thread.detachNewThread { [self] in
        let isLocking = kind == "held" || kind == "beside" && number > 0
        // Relaxed, so that it does not order the accesses.
        begun.add(1, ordering: .relaxed)
        while begun.load(ordering: .relaxed) < 4 {}
        for _ in 0..<20_000 {
          if isLocking { lock.withLock { _ in count += 1 } } else { count += 1 }
        }
        ended.add(1, ordering: .relaxed)
      }
    }
    while ended.load(ordering: .relaxed) < 4 { usleep(1000) }
  }
}

Counter().run(CommandLine.arguments[1])
