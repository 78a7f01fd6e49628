/// What a name of an entry may be, for the reader and the writer alike.
enum EntryName {
  private static let slash = UInt8(ascii: "/")
  private static let backslash = UInt8(ascii: "\\")

  /// The name that a header gives, by its bytes, its flags, its system and its Unicode path field.
  ///
  /// Info-ZIP and macOS often leave UTF-8 unmarked; other text is as good as never valid UTF-8 by chance.
  ///
  /// The field replaces a name that isn't marked as UTF-8 (APPNOTE 4.6.9). One that was made for another name,
  /// or that needs no Unicode and yet says something else, is how two readers are shown two names.
  static func decode(
    _ raw: [UInt8], flags: UInt16, isUnix: Bool, unicodePath: ExtraFields.UnicodePath?
  ) throws(ZipError) -> String {
    // Nearly all names are the same in every encoding.
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
    // Readers that don't know the field go by the plain name, so that has to be harmless too.
    if let problem = problem(with: plain) { throw ZipError(.name(problem), entry: plain) }
    return text
  }

  /// Some readers stop at a NUL. Where they would see a proper name, the entry has two names.
  private static func refuseSecondReading(_ raw: [UInt8], as name: String) throws(ZipError) {
    guard let end = raw.firstIndex(of: 0), end > 0 else { return }
    if raw[..<end].allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) {
      throw ZipError(.name(.controlCharacter), entry: name)
    }
  }

  /// What makes `name` impossible to write below a folder, on any system, if anything does. A backslash is
  /// harmless where it would be harmless as a separator too.
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
      // Windows strips dots and spaces from a name's end, so that `.. ` and `...` are ways to write `..`.
      if part.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: " ") }) { return .dotPart }
    }
    return nil
  }

  private static func hasControlCharacter(_ name: String) -> Bool {
    // Nearly all names are in ASCII, where no table has to be asked.
    if name.utf8.allSatisfy({ $0 < 0x80 }) { return name.utf8.contains { $0 < 0x20 || $0 == 0x7F } }
    return name.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }

  /// `name` with the replacement character for each control character.
  static func printable(_ name: String) -> String {
    var printable = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      printable.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
    }
    return String(printable)
  }

  /// The parts of `name`, separated by slashes or backslashes; the one slash that marks a folder ends the last.
  static func parts(of name: String) -> [Substring] {
    // Bytes, not characters: a combining mark after a slash makes one character of the two.
    let bytes = name.utf8.last == slash ? name.utf8.dropLast() : name.utf8[...]
    return bytes.split(omittingEmptySubsequences: false) { $0 == slash || $0 == backslash }.map(
      Substring.init)
  }
}
