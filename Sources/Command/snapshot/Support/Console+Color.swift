import Foundation

extension Console {
  /// A colour of a terminal's own palette, so that it is readable in light and dark.
  enum Color: Int {
    case red = 31
    case green = 32
    case yellow = 33
  }

  /// `text` in `color`, where stdout is a terminal and `NO_COLOR` is not set.
  static func colored(_ text: String, _ color: Color) -> String {
    isPlain ? text : "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m"
  }

  /// Whether results are written without colours.
  static var isPlain: Bool {
    !outputIsTerminal || ProcessInfo.processInfo.environment["NO_COLOR"]?.isEmpty == false
  }
}
