import HTTPTypes

/// How a response goes over the wire: decided here, obeyed by the connection; a value without I/O.
struct ResponseHead {
  enum Framing: Hashable {
    /// No body and no length: 204, 304, and a stream's answer to `HEAD`.
    case none
    case length(Int64)
    case chunked
    /// The connection's end is the body's (an HTTP/1.0 client and a length that isn't known).
    case untilClose
  }

  /// A field or the status is one that may not be sent.
  struct Unlawful: Error {}

  let framing: Framing
  /// Whether a body follows.
  let sendsBody: Bool
  /// Whether the connection ends with this response.
  let closes: Bool
  private let response: HTTPServerResponse
  private let minorVersion: Int

  init(_ response: HTTPServerResponse, isHEAD: Bool, minorVersion: Int, keepsAlive: Bool) {
    self.response = response
    self.minorVersion = minorVersion
    let saysClose = response.headerFields.contains {
      $0.name.canonicalName.utf8.count == 10 && $0.name == .connection && $0.value.lowercased() == "close"
    }
    switch response.body.length {
    case _ where response.isBodiless: framing = .none
    case let length?: framing = .length(isHEAD ? Self.length(ofHEAD: response) ?? length : length)
    case nil: framing = isHEAD ? .none : minorVersion > 0 ? .chunked : .untilClose
    }
    sendsBody = !isHEAD && !response.isBodiless
    closes = !keepsAlive || saysClose || framing == .untilClose
  }

  /// A handler that knows the length without having the body may say so in the answer to `HEAD`.
  private static func length(ofHEAD response: HTTPServerResponse) -> Int64? {
    guard case .empty = response.body, let text = response.headerFields[.contentLength] else { return nil }
    return Int64(text).flatMap { $0 >= 0 ? $0 : nil }
  }

  /// Writes the head. What stands in `buffer` after a failure is not to be sent.
  /// - Parameter date: the whole `Date` field with its line end.
  func write(into buffer: OutputBuffer, date: [UInt8], serverName: String?) throws(Unlawful) {
    let status = response.status
    guard (200...999).contains(status.code) else { throw Unlawful() }
    buffer.append("HTTP/1.1 ")
    buffer.append(Int64(status.code))
    buffer.append(.space)
    try append(status.reasonPhrase, to: buffer)
    buffer.append("\r\n")
    buffer.append(date)
    if let serverName {
      buffer.append("Server: ")
      try append(serverName, to: buffer)
      buffer.append("\r\n")
    }
    for field in response.headerFields where !Self.isOurs(field.name) {
      try append(field.name.rawName, to: buffer)
      buffer.append(": ")
      guard field.withUnsafeBytesOfValue({ append(UnsafeRawBufferPointer($0), to: buffer) }) else {
        throw Unlawful()
      }
      buffer.append("\r\n")
    }
    switch framing {
    case .length(let length):
      buffer.append("Content-Length: ")
      buffer.append(length)
      buffer.append("\r\n")
    case .chunked: buffer.append("Transfer-Encoding: chunked\r\n")
    case .none, .untilClose: break
    }
    if closes {
      buffer.append("Connection: close\r\n")
    } else if minorVersion == 0 {
      buffer.append("Connection: keep-alive\r\n")
    }
    buffer.append("\r\n")
  }

  /// Fields that are the server's to write.
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

  private func append(_ text: String, to buffer: OutputBuffer) throws(Unlawful) {
    var text = text
    guard text.withUTF8({ append(UnsafeRawBufferPointer($0), to: buffer) }) else { throw Unlawful() }
  }

  /// Nothing that could end a line gets through, whatever made it.
  private func append(_ bytes: UnsafeRawBufferPointer, to buffer: OutputBuffer) -> Bool {
    for byte in bytes where !isFieldValueByte(byte) { return false }
    buffer.append(bytes)
    return true
  }
}

extension HTTPServerResponse {
  /// Whether the status rules a body out, and a length too (RFC 9110 §8.6).
  fileprivate var isBodiless: Bool { status.code == 204 || status.code == 304 }

  /// Whether the body is sent to a client that asked with `method`.
  func hasBody(inAnswerTo method: HTTPRequest.Method) -> Bool { method != .head && !isBodiless }
}

extension HTTPServerResponse.Body {
  /// The bytes in all; `nil` for a stream.
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
    case .stream: nil
    }
  }
}
