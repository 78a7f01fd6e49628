/// What ``ZipProfile/strict`` asks of names, so that they name one file on every file system.
extension EntryName {
  /// What makes `name`, with which ``problem(with:)`` found nothing wrong, something else on one system than on another,
  /// if anything does.
  static func strictProblem(with name: String) -> ZipError.NameProblem? {
    for byte in name.utf8 {
      if byte == UInt8(ascii: "\\") { return .backslash }
      if byte == UInt8(ascii: ":") { return .colon }
    }
    for part in parts(of: name) {
      if isDevice(part) { return .deviceName }
      // To HFS+ an ignorable character is not there: `.` and a joiner is `.`.
      if part.utf8.contains(where: { $0 >= 0x80 }), NameIndex.strictFold(part).isEmpty { return .dotPart }
    }
    return nil
  }

  /// Whether Windows takes the part of a name for a device, whatever stands behind a dot and in whichever case.
  package static func isDevice(_ part: Substring) -> Bool {
    var stem = part.unicodeScalars.prefix { $0 != "." }
    // Spaces at the end don't count.
    while stem.last == " " { stem.removeLast() }
    guard (3...7).contains(stem.count), let last = stem.last else { return false }
    let name = String(Substring(stem)).lowercased()
    if ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(name) { return true }
    return stem.count == 4 && ["com", "lpt"].contains(String(Substring(stem.dropLast())).lowercased())
      && "0123456789¹²³".unicodeScalars.contains(last)
  }
}

extension NameIndex {
  /// What is left of a part of a name where Windows and HFS+ write it, beyond ``fold(_:)``: without the characters that
  /// HFS+ ignores, without dots and spaces at the end, and with an underscore for each character that Windows refuses,
  /// as Python writes it there.
  static func strictFold(_ part: Substring) -> String {
    if part.utf8.allSatisfy({ $0 < 0x80 && !isUnwritable($0) }), !isStripped(part.utf8.last) {
      return fold(part)
    }
    var scalars = String.UnicodeScalarView()
    for scalar in part.unicodeScalars where !scalar.properties.isDefaultIgnorableCodePoint {
      scalars.append(scalar.value < 0x80 && isUnwritable(UInt8(scalar.value)) ? "_" : scalar)
    }
    while let last = scalars.last, last.value < 0x80, isStripped(UInt8(last.value)) { scalars.removeLast() }
    return fold(Substring(String(scalars)))
  }

  private static func isUnwritable(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "|"), UInt8(ascii: "?"),
      UInt8(ascii: "*"):
      true
    default: false
    }
  }

  private static func isStripped(_ byte: UInt8?) -> Bool {
    byte == UInt8(ascii: ".") || byte == UInt8(ascii: " ")
  }
}
