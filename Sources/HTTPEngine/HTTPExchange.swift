/// One request and what became of it, for access logs and metrics.
public struct HTTPExchange: Sendable, Hashable {
  /// The method, or `-` where no head could be read.
  public var method: String
  /// The path without its query, which may hold secrets; `-` where no head could be read.
  public var path: String
  /// The status that was sent.
  public var status: Int
  /// Bytes of the response that the system took, head and coding included.
  public var bytesSent: Int64
  /// From the head's last byte to the response's.
  public var duration: Duration
  /// Whether the whole response was sent; `false` where the client went away or the server gave up.
  public var isComplete: Bool
  /// The request's id.
  public var requestID: String
  /// The other end of the connection, as `address:port`.
  public var peer: String
}

extension String {
  /// Fit for one line of a log: control characters and what could pass for a line's end, escaped.
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
