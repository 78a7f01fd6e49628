import HTTPTransport
import Synchronization

/// Shows the progress of a transfer: a line that is overwritten on a terminal, or else a line for each quarter.
final class ProgressLine: Sendable {
  private let title: String
  private let lastQuarter = Mutex(-1)

  init(_ title: String) { self.title = title }

  /// Shows a progress. Can be called from any thread.
  func show(_ progress: TransportProgress) {
    guard let total = progress.total, total > 0 else { return }
    let percent = Int(progress.completed * 100 / total)
    let text = "\(title) \(percent) % of \(Console.size(total))"
    if Console.errorIsTerminal {
      Console.progress("\r\(text)\u{1B}[K")
    } else if lastQuarter.withLock({ last in
      defer { last = max(last, percent / 25) }
      return percent / 25 > last
    }) {
      Console.note(text)
    }
  }

  /// Clears the line on a terminal.
  func finish() {
    if Console.errorIsTerminal { Console.progress("\r\u{1B}[K") }
  }
}
