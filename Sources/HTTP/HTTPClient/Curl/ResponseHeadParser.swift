#if canImport(CCurl)
  import HTTPTypes

  /// Assembles a response's head from the lines that libcurl passes one by one.
  ///
  /// Accepts any number of informational heads, then the final one. Drops trailers, which come after the final head.
  struct ResponseHeadParser {
    private var status: HTTPResponse.Status?
    private var fields: [(name: HTTPField.Name, value: [UInt8])] = []
    private var size = 0
    private var isFinal = false

    /// Processes one line, including its line end.
    ///
    /// - Returns: the head, after its empty line. After an informational head (1xx), another one follows.
    mutating func take(_ line: UnsafeRawBufferPointer) throws(TransportError) -> HTTPResponse? {
      size += line.count
      guard size <= TransportLimits.headBytes else {
        throw .responseTooLarge(limit: Int64(TransportLimits.headBytes))
      }
      guard !isFinal else { return nil }
      let text = line.prefix { $0 != 0x0D && $0 != 0x0A }
      if text.starts(with: "HTTP/".utf8) {
        status = Self.status(text)
        fields = []
        return nil
      }
      guard text.isEmpty else {
        try takeField(text)
        return nil
      }
      guard let status else { throw .interrupted("the response is not HTTP") }
      isFinal = status.kind != .informational
      defer { (self.status, fields) = (nil, []) }
      return HTTPResponse(
        status: status,
        headerFields: HTTPFields(fields.map { HTTPField(name: $0.name, lenientValue: $0.value) }))
    }

    private mutating func takeField(_ text: Slice<UnsafeRawBufferPointer>) throws(TransportError) {
      if text.first == 0x20 || text.first == 0x09, !fields.isEmpty {
        // A folded line continues the last value (RFC 9112 §5.2).
        fields[fields.count - 1].value += [0x20] + Self.trimmed(text)
        return
      }
      guard
        let colon = text.firstIndex(of: UInt8(ascii: ":")),
        let name = HTTPField.Name(String(decoding: text[..<colon], as: UTF8.self))
      else { throw .interrupted("the response has a line that is not a field") }
      fields.append((name, Self.trimmed(text[text.index(after: colon)...])))
    }

    /// Reads `HTTP/1.1 200 OK` or `HTTP/2 200`.
    private static func status(_ text: Slice<UnsafeRawBufferPointer>) -> HTTPResponse.Status? {
      let parts = text.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count >= 2, parts[1].count == 3, parts[1].allSatisfy({ (0x30...0x39).contains($0) }) else {
        return nil
      }
      let code = parts[1].reduce(0) { $0 * 10 + Int($1 - 0x30) }
      let reason = parts.count == 3 ? String(decoding: parts[2], as: UTF8.self) : ""
      return HTTPResponse.Status(code: code, reasonPhrase: reason)
    }

    private static func trimmed(_ text: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
      let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
      return Array(text.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
  }
#endif
