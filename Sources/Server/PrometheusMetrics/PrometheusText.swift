/// A label and its value.
struct Label: Hashable, Comparable {
  let name: String
  let value: String

  static func < (left: Self, right: Self) -> Bool { (left.name, left.value) < (right.name, right.value) }
}

/// The syntax of Prometheus' text format.
enum PrometheusText {
  /// Returns `text` as a valid name: ASCII letters, digits and `_`, and `:` if `colons` is true, without a leading
  /// digit.
  static func name(_ text: String, colons: Bool) -> String {
    var name = ""
    for scalar in text.unicodeScalars {
      let isAllowed =
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_": true
        case ":": colons
        default: false
        }
      name.unicodeScalars.append(isAllowed ? scalar : "_")
    }
    guard let first = name.unicodeScalars.first, !("0"..."9").contains(first) else { return "_" + name }
    return name
  }

  /// Returns `text` escaped for a line. Escapes quotation marks if `quotes` is true.
  static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Returns `labels` in braces, or an empty text if there are none.
  static func braced(_ labels: [Label]) -> String {
    guard !labels.isEmpty else { return "" }
    return "{" + labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }.joined(separator: ",")
      + "}"
  }

  /// Returns a number in Go's syntax.
  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if let whole = Int64(exactly: value) { return "\(whole)" }
    return "\(value)"
  }
}
