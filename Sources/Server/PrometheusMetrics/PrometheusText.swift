/// A label and its value.
struct Label: Hashable, Comparable {
  let name: String
  let value: String

  static func < (left: Self, right: Self) -> Bool { (left.name, left.value) < (right.name, right.value) }
}

/// The words of Prometheus' text format.
enum PrometheusText {
  /// `text` as a name: ASCII letters, digits and `_`, with `:` where `colons` says so, no digit first.
  static func name(_ text: String, colons: Bool) -> String {
    var name = ""
    for scalar in text.unicodeScalars {
      let isAllowed =
        scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_")
      name.unicodeScalars.append(isAllowed || (colons && scalar == ":") ? scalar : "_")
    }
    guard let first = name.unicodeScalars.first, !("0"..."9").contains(first) else { return "_" + name }
    return name
  }

  /// `text` within a line, and within quotation marks where `quotes` says so.
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

  /// `labels` in braces; nothing where there are none.
  static func braced(_ labels: [Label]) -> String {
    guard !labels.isEmpty else { return "" }
    return "{" + labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }.joined(separator: ",")
      + "}"
  }

  /// A number as Go would read it.
  static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    if let whole = Int64(exactly: value) { return "\(whole)" }
    return "\(value)"
  }
}
