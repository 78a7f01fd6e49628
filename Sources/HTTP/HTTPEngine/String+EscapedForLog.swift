extension String {
  /// The text for one line of a log: control characters and Unicode line separators are escaped.
  var escapedForLog: String {
    func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
      scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || scalar.value == 0x2028
        || scalar.value == 0x2029
    }
    guard unicodeScalars.contains(where: needsEscape) else { return self }
    var escaped = ""
    for scalar in unicodeScalars {
      if needsEscape(scalar) {
        escaped += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
