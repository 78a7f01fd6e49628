import HTTPTypes

/// A set of field names that are hidden from handlers. Comparing a line's bytes with the few names of the same length
/// is faster than creating a field name from them.
struct FieldLines: Sendable {
  /// Fields for a single connection (RFC 9110 §7.6.1), and `Host`, whose value is the authority.
  static let ofConnection = FieldLines([
    "host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "upgrade",
  ])

  /// Fields that are not valid in trailers (RFC 9110 §6.5.1): framing, routing, credentials, conditions, and how to
  /// process the content, which must be known before it.
  static let neverTrailers = FieldLines(
    ofConnection.names.joined() + [
      "trailer", "content-length", "content-encoding", "content-type", "content-range", "authorization",
      "proxy-authorization", "cookie", "set-cookie", "cache-control", "expect", "forwarded", "max-forwards",
      "pragma", "range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range",
      "x-request-id", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-http-method-override",
    ])

  /// The names in lower case, indexed by their length.
  private let names: [[String]]

  private init(_ texts: [String]) {
    var names: [[String]] = []
    for text in texts {
      while names.count <= text.utf8.count { names.append([]) }
      names[text.utf8.count].append(text)
    }
    self.names = names
  }

  /// Whether the set contains `name`, in any case.
  func contains(_ name: UnsafeRawBufferPointer) -> Bool {
    guard name.count < names.count else { return false }
    return names[name.count].contains { $0.utf8.elementsEqual(name.lazy.map(\.lowercased)) }
  }
}

extension HTTPFields {
  /// Creates fields from `lines`, up to the first empty line. Skips fields named in `names`. The lines must be
  /// validated: each consists of a token, a colon and a value, and ends with CR LF.
  init(judgedLines lines: ArraySlice<UInt8>, without names: FieldLines) {
    self.init()
    lines.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while let end = rest.firstIndex(of: .carriageReturn), end > rest.startIndex {
        let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
        let name = UnsafeRawBufferPointer(rebasing: line[..<line.end(of: .token)])
        if !names.contains(name), let fieldName = HTTPField.Name(String(decoding: name, as: UTF8.self)) {
          let value = UnsafeRawBufferPointer(rebasing: line[(name.count + 1)...]).trimmed
          // Creating a string is faster for ASCII. Bytes that are not UTF-8 are preserved.
          append(
            value.allSatisfy { $0 < 0x80 }
              ? HTTPField(name: fieldName, value: String(decoding: value, as: UTF8.self))
              : HTTPField(name: fieldName, value: value))
        }
        rest = rest[(end + 2)...]
      }
    }
  }
}
