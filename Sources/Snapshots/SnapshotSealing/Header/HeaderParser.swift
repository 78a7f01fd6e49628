import JSONText

/// Parses a header from bytes that arrive in pieces. Takes no more memory than a header may have.
struct HeaderParser: Sendable {
  private enum Expectation { case version, stanza, body }

  private var expectation = Expectation.version
  private var line: [UInt8] = []
  private var text: [UInt8] = []
  private var stanzas: [Stanza] = []
  private var arguments: [String] = []
  private var body = ""

  /// Takes bytes up to the end of the header from the beginning of `bytes`, and removes them.
  /// - Returns: the header when it is complete.
  mutating func take(_ bytes: inout ArraySlice<UInt8>) throws(SealingError) -> SealedHeader? {
    while let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
      line += bytes[..<end]
      bytes = bytes[(end + 1)...]
      try checkSize()
      let complete = line
      line = []
      if let header = try take(line: complete) { return header }
    }
    line += bytes
    bytes = bytes[bytes.endIndex...]
    try checkSize()
    return nil
  }

  private func checkSize() throws(SealingError) {
    if case .version = expectation {
      guard !line.starts(with: HeaderFormat.armorStart.utf8) else { throw .notSealed(isArmored: true) }
      let starts = [HeaderFormat.versionStart, HeaderFormat.armorStart]
      guard starts.contains(where: { line.starts(with: $0.utf8.prefix(line.count)) }),
        line.count <= HeaderFormat.versionLength
      else { throw .notSealed(isArmored: false) }
    }
    guard text.count + line.count < SealedHeader.maximumSize else {
      throw .headerTooLarge("at most \(SealedHeader.maximumSize) bytes")
    }
  }

  private mutating func take(line: [UInt8]) throws(SealingError) -> SealedHeader? {
    switch expectation {
    case .version:
      guard line.starts(with: HeaderFormat.versionStart.utf8) else { throw .notSealed(isArmored: false) }
      let version = String(decoding: line.dropFirst(HeaderFormat.versionStart.utf8.count), as: UTF8.self)
      guard !version.isEmpty, version.utf8.allSatisfy({ (33...126).contains($0) }) else {
        throw .malformedHeader("its version has a character that is not allowed")
      }
      guard version == HeaderFormat.version else { throw .unknownVersion(version) }
      expectation = .stanza
    case .stanza:
      if line.starts(with: "---".utf8) { return try end(line) }
      try begin(line)
    case .body:
      guard line.count <= HeaderFormat.columns else { throw .malformedHeader("a line is too long") }
      body += String(decoding: line, as: UTF8.self)
      if line.count < HeaderFormat.columns {
        guard let bytes = Base64.decodeUnpadded(body) else {
          throw .malformedHeader("the body of a stanza is not canonical base64")
        }
        stanzas.append(Stanza(arguments: arguments, body: bytes))
        expectation = .stanza
      }
    }
    text += line + [UInt8(ascii: "\n")]
    return nil
  }

  private mutating func begin(_ line: [UInt8]) throws(SealingError) {
    guard line.starts(with: "-> ".utf8) else {
      throw .malformedHeader("a line begins neither a stanza nor the end")
    }
    guard stanzas.count < SealedHeader.maximumStanzas else {
      throw .headerTooLarge("at most \(SealedHeader.maximumStanzas) recipients")
    }
    let parts = line.dropFirst(3).split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { (33...126).contains($0) } }) else {
      throw .malformedHeader("an argument of a stanza is empty or has a character that is not allowed")
    }
    arguments = parts.map { String(decoding: $0, as: UTF8.self) }
    body = ""
    expectation = .body
  }

  private mutating func end(_ line: [UInt8]) throws(SealingError) -> SealedHeader {
    guard !stanzas.isEmpty else { throw .malformedHeader("it has no recipient") }
    guard line.starts(with: "--- ".utf8),
      let code = Base64.decodeUnpadded(String(decoding: line.dropFirst(4), as: UTF8.self)), code.count == 32
    else { throw .malformedHeader("its authentication code is not canonical base64 of 32 bytes") }
    return SealedHeader(stanzas: stanzas, code: code, size: text.count + line.count + 1)
  }
}
