import HTTPClient
import SystemIO

/// Shows the progress of a transfer: a line that is overwritten on a terminal, or else a line for each quarter.
final class ProgressLine: Sendable {
  private let title: String
  private let lastQuarter = Lock(-1)
  private let lastTime = Lock<ContinuousClock.Instant?>(nil)

  init(_ title: String) { self.title = title }

  /// Shows a progress. Can be called from any thread.
  func show(_ progress: TransportProgress) {
    guard let total = progress.total, total > 0 else { return }
    show(percent: Int(progress.completed * 100 / total), "of \(Console.size(total))")
  }

  /// Shows a progress of work whose total is not known in bytes. Can be called from any thread, often: on a terminal,
  /// the line is written at most ten times a second.
  /// - Parameter detail: makes the text that follows the percentage.
  func show(share: Double, _ detail: () -> String) {
    if Console.errorIsTerminal {
      let now = ContinuousClock.now
      let isDue = lastTime.withLock { last in
        if let last, now - last < .milliseconds(100) { return false }
        last = now
        return true
      }
      guard isDue else { return }
    } else if lastQuarter.withLock({ Int(share * 4) <= $0 }) {
      return
    }
    show(percent: Int(share * 100), detail())
  }

  private func show(percent: Int, _ detail: String) {
    let text = "\(title) \(percent) % \(detail)"
    if Console.errorIsTerminal {
      Console.progress("\r\(text)\u{1B}[K")
    } else if lastQuarter.withLock({ last in
      defer { last = max(last, percent / 25) }
      return percent / 25 > last
    }) {
      Console.message(text)
    }
  }

  /// Clears the line on a terminal.
  func finish() {
    if Console.errorIsTerminal { Console.progress("\r\u{1B}[K") }
  }
}
