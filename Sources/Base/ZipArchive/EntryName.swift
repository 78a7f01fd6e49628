/// The rules for entry names, shared by the reader and the writer.
enum EntryName {
  private static let slash = UInt8(ascii: "/")
  private static let backslash = UInt8(ascii: "\\")

  /// Decodes the name in a header, using its flags, its system and its Unicode path field.
  ///
  /// Info-ZIP and macOS often write UTF-8 without marking it. A name from Unix that is valid UTF-8 is decoded as such,
  /// because text in another encoding is almost never valid UTF-8 by chance.
  ///
  /// A Unicode path field replaces a name that is not marked as UTF-8 (APPNOTE 4.6.9). The field is rejected if its
  /// checksum does not match the name, or if it is ASCII but differs from the name: different readers would then see
  /// different names.
  static func decode(
    _ raw: [UInt8], flags: UInt16, isUnix: Bool, unicodePath: ExtraFields.UnicodePath?
  ) throws(ZipError) -> String {
    // Fast path: nearly all names are ASCII, which is the same in every encoding.
    if unicodePath == nil, raw.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
      return String(decoding: raw, as: UTF8.self)
    }
    let isUTF8 = flags & Flag.utf8 != 0
    let plain: String
    if isUTF8 {
      guard let text = String(validating: raw, as: UTF8.self) else {
        throw ZipError(.name(.notUTF8), entry: CP437.decode(raw))
      }
      plain = text
    } else if isUnix, let text = String(validating: raw, as: UTF8.self), !text.utf8.allSatisfy({ $0 < 0x80 }),
      problem(with: text) != .controlCharacter
    {
      plain = text
    } else {
      plain = CP437.decode(raw)
      try refuseSecondReading(raw, as: plain)
    }
    guard let unicodePath else { return plain }
    guard let text = String(validating: unicodePath.name, as: UTF8.self) else {
      throw ZipError(.name(.notUTF8), entry: plain)
    }
    if text.utf8.elementsEqual(plain.utf8) { return plain }
    guard !isUTF8, unicodePath.version == 1, unicodePath.crc32 == checksum(of: raw),
      !unicodePath.name.allSatisfy({ $0 < 0x80 })
    else { throw ZipError(.name(.otherUnicodePath), entry: plain) }
    // Readers that do not support the field use the plain name, so that must be safe as well.
    if let problem = problem(with: plain) { throw ZipError(.name(problem), entry: plain) }
    return text
  }

  /// Some readers end a name at a NUL. Rejects a name whose part before the NUL is valid, because such readers would
  /// see a different name.
  private static func refuseSecondReading(_ raw: [UInt8], as name: String) throws(ZipError) {
    guard let end = raw.firstIndex(of: 0), end > 0 else { return }
    if raw[..<end].allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
      throw ZipError(.name(.controlCharacter), entry: name)
    }
  }

  /// The reason why a file named `name` cannot safely be written below a folder on every system; `nil` if it can.
  /// Backslashes are checked as separators too, as on Windows.
  static func problem(with name: String) -> ZipError.NameProblem? {
    let bytes = name.utf8
    if hasControlCharacter(name) { return .controlCharacter }
    guard let first = bytes.first else { return .empty }
    if first == slash || first == backslash { return .absolute }
    if bytes.dropFirst().first == UInt8(ascii: ":"), Unicode.Scalar(first).properties.isAlphabetic,
      first < 0x80
    {
      return .driveLetter
    }
    for part in parts(of: name) {
      if part.isEmpty { return .emptyPart }
      // Windows removes dots and spaces at the end of a name, so `.. ` and `...` are other spellings of `..`.
      if part.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: " ") }) { return .dotPart }
    }
    return nil
  }

  private static func hasControlCharacter(_ name: String) -> Bool {
    // Fast path: nearly all names are ASCII, which needs no Unicode table.
    if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.utf8.contains { $0 < 0x20 || $0 == 0x7F } }
    return name.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }

  /// `name` with control characters replaced by U+FFFD.
  static func printable(_ name: String) -> String {
    var printable = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      printable.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
    }
    return String(printable)
  }

  /// The components of `name`, separated by slashes or backslashes. A single trailing slash, which marks a folder, is
  /// ignored.
  static func parts(of name: String) -> [Substring] {
    // Split bytes, not characters: a slash and a following combining mark form a single character.
    let bytes = name.utf8.last == slash ? name.utf8.dropLast() : name.utf8[...]
    return bytes.split(omittingEmptySubsequences: false) { $0 == slash || $0 == backslash }.map(
      Substring.init)
  }
}

/// The rules of ``ZipProfile/strict`` for names, so that a name refers to the same file on every file system.
extension EntryName {
  /// The reason why `name`, which passed ``problem(with:)``, would have a different meaning on some systems; `nil` if
  /// it would not.
  static func strictProblem(with name: String) -> ZipError.NameProblem? {
    for byte in name.utf8 {
      if byte == UInt8(ascii: "\\") { return .backslash }
      if byte == UInt8(ascii: ":") { return .colon }
    }
    for part in parts(of: name) {
      if isDevice(part) { return .deviceName }
      // HFS+ removes ignorable characters, so a `.` with a joiner is the same as `.`.
      if part.utf8.contains(where: { $0 >= 0x80 }), NameIndex.strictFold(part).isEmpty { return .dotPart }
    }
    return nil
  }

  /// Whether Windows treats the component as a device name. Text after a dot and letter case are ignored.
  package static func isDevice(_ part: Substring) -> Bool {
    var stem = part.unicodeScalars.prefix { $0 != "." }
    // Trailing spaces are ignored as well.
    while stem.last == " " { stem.removeLast() }
    guard (3...7).contains(stem.count), let last = stem.last else { return false }
    let name = String(Substring(stem)).lowercased()
    if ["con", "prn", "aux", "nul", "conin$", "conout$"].contains(name) { return true }
    return stem.count == 4 && ["com", "lpt"].contains(String(Substring(stem.dropLast())).lowercased())
      && "0123456789¹²³".unicodeScalars.contains(last)
  }
}

extension NameIndex {
  /// The case-folded form of a name's component as Windows and HFS+ write it: like ``fold(_:)``, but without characters
  /// that HFS+ ignores, without trailing dots and spaces, and with an underscore instead of each character that Windows
  /// rejects, as Python's `zipfile` writes it there.
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

/// The character set of names that are not marked as UTF-8 (APPNOTE, appendix D).
enum CP437 {
  /// The characters for the bytes 0x00 to 0x1F: the graphic characters of CP437, because names do not contain control
  /// codes. NUL has no graphic character and is shown as its symbol.
  private static let low = Array("␀☺☻♥♦♣♠•◘○◙♂♀♪♫☼►◄↕‼¶§▬↨↑↓→←∟↔▲▼".unicodeScalars)

  /// The characters for the bytes 0x80 to 0xFF.
  private static let high = Array(
    ("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐"
      + "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}").unicodeScalars)

  /// Decodes `bytes`. Every byte is valid.
  static func decode(_ bytes: [UInt8]) -> String {
    var text = String.UnicodeScalarView()
    for byte in bytes {
      switch byte {
      case 0x00...0x1F: text.append(low[Int(byte)])
      case 0x7F: text.append("⌂")
      case 0x80...0xFF: text.append(high[Int(byte) - 0x80])
      default: text.append(Unicode.Scalar(byte))
      }
    }
    return String(text)
  }
}
