import HTTPTypes

/// Determines how a response is sent: the framing, and whether the connection closes. Performs no I/O.
struct ResponseHead {
  enum Framing: Hashable {
    /// No body and no length: 204, 304, and the response to `HEAD` if the length is unknown.
    case none
    case length(Int64)
    case chunked
    /// The end of the connection is the end of the body: for an HTTP/1.0 client if the length is unknown.
    case untilClose
  }

  /// The status or a field is not allowed in a response.
  struct Unlawful: Error {}

  let framing: Framing
  /// Whether a body follows.
  let sendsBody: Bool
  /// Whether the connection closes after this response. A `Connection` field of the response is taken into account when
  /// the head is written.
  private(set) var closes: Bool
  private let minorVersion: Int

  init(_ response: borrowing HTTPServerResponse, isHEAD: Bool, minorVersion: Int, keepsAlive: Bool) {
    self.minorVersion = minorVersion
    switch response.body.length {
    case _ where response.isBodiless: framing = .none
    case let length?: framing = .length(isHEAD ? Self.length(ofHEAD: response) ?? length : length)
    case nil: framing = isHEAD ? .none : minorVersion > 0 ? .chunked : .untilClose
    }
    sendsBody = !isHEAD && !response.isBodiless
    closes = !keepsAlive || framing == .untilClose
  }

  /// In a response to `HEAD`, a handler can state the length without having the body.
  private static func length(ofHEAD response: borrowing HTTPServerResponse) -> Int64? {
    guard case .empty = response.body, let text = response.headerFields[.contentLength] else { return nil }
    return Int64(text).flatMap { $0 >= 0 ? $0 : nil }
  }

  /// Writes the head of `response`, which must be the one passed to the initializer. If it throws, the contents of
  /// `buffer` must not be sent.
  ///
  /// - Parameter date: the complete `Date` field with its line end.
  mutating func write(
    _ response: HTTPServerResponse, into buffer: OutputBuffer, date: [UInt8], serverName: String?
  ) throws(Unlawful) {
    let status = response.status
    guard (200...999).contains(status.code) else { throw Unlawful() }
    if status.code == 200, status.reasonPhrase == "OK" {
      buffer.append(literal: "HTTP/1.1 200 OK\r\n")
    } else {
      try Self.write(status, into: buffer)
    }
    buffer.append(date)
    if let serverName {
      buffer.append(literal: "Server: ")
      try buffer.append(checked: serverName)
      buffer.append(literal: "\r\n")
    }
    for field in response.headerFields { try take(field, into: buffer) }
    for field in response.addedFields { try take(field, into: buffer) }
    switch framing {
    case .length(let length):
      buffer.append(literal: "Content-Length: ")
      buffer.append(length)
      buffer.append(literal: "\r\n")
    case .chunked: buffer.append(literal: "Transfer-Encoding: chunked\r\n")
    case .none, .untilClose: break
    }
    if closes {
      buffer.append(literal: "Connection: close\r\n")
    } else if minorVersion == 0 {
      buffer.append(literal: "Connection: keep-alive\r\n")
    }
    buffer.append(literal: "\r\n")
  }

  /// Writes a field of a handler, unless only the server sets it.
  private mutating func take(_ field: HTTPField, into buffer: OutputBuffer) throws(Unlawful) {
    guard Self.isOurs(field.name) else { return try Self.write(field, into: buffer) }
    if field.name == .connection, field.value.lowercased() == "close" { closes = true }
  }

  /// Writes an interim response, which consists of a status and fields, without a body. If it throws, the contents of
  /// `buffer` must not be sent. Handlers can't send `100 (Continue)` and `101 (Switching Protocols)`.
  static func writeInterim(
    _ status: HTTPResponse.Status, _ fields: HTTPFields, into buffer: OutputBuffer
  ) throws(Unlawful) {
    guard (102...199).contains(status.code) else { throw Unlawful() }
    try write(status, into: buffer)
    for field in fields where !isOurs(field.name) { try write(field, into: buffer) }
    buffer.append(literal: "\r\n")
  }

  private static func write(_ status: HTTPResponse.Status, into buffer: OutputBuffer) throws(Unlawful) {
    buffer.append(literal: "HTTP/1.1 ")
    buffer.append(Int64(status.code))
    buffer.append(.space)
    try buffer.append(checked: status.reasonPhrase)
    buffer.append(literal: "\r\n")
  }

  private static func write(_ field: HTTPField, into buffer: OutputBuffer) throws(Unlawful) {
    // A field name is always a valid token.
    buffer.append(field.name.rawName)
    buffer.append(literal: ": ")
    guard field.withUnsafeBytesOfValue({ buffer.append(checked: UnsafeRawBufferPointer($0)) }) else {
      throw Unlawful()
    }
    buffer.append(literal: "\r\n")
  }

  /// Whether only the server sets this field.
  private static func isOurs(_ name: HTTPField.Name) -> Bool {
    switch name.canonicalName.utf8.count {
    case 4: name == .date
    case 7: name == .upgrade
    case 10: name == .connection || name.canonicalName == "keep-alive"
    case 14: name == .contentLength
    case 17: name == .transferEncoding
    default: false
    }
  }
}

extension OutputBuffer {
  /// Throws if the text contains a character that could end the line.
  fileprivate func append(checked text: String) throws(ResponseHead.Unlawful) {
    guard text.withUTF8Bytes({ append(checked: $0) }) else { throw ResponseHead.Unlawful() }
  }

  fileprivate func append(checked bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.isFieldValue else { return false }
    append(bytes)
    return true
  }
}

extension HTTPServerResponse {
  /// Whether the status forbids a body and a length (RFC 9110 §8.6).
  fileprivate var isBodiless: Bool { status.code == 204 || status.code == 304 }

  /// Whether a response to `method` has a body.
  func hasBody(inAnswerTo method: HTTPRequest.Method) -> Bool { method != .head && !isBodiless }
}

extension HTTPServerResponse.Body {
  /// Whether the bytes are produced on demand.
  var isStream: Bool { if case .stream = self { true } else { false } }

  /// The total number of bytes, if it is known before the last one is produced.
  var length: Int64? {
    switch self {
    case .empty: 0
    case .bytes(let bytes): Int64(bytes.count)
    case .parts(let parts):
      parts.reduce(0) { sum, part in
        switch part {
        case .bytes(let bytes): sum + Int64(bytes.count)
        case .file(_, _, let count): sum + max(0, count)
        }
      }
    case .stream(let length, _): length
    }
  }
}
