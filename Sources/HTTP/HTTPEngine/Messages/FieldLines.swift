import HTTPTypes

/// Which field lines are not for handlers: a set of names. Comparing a line's bytes with the few of the same length takes
/// less than making a name of them.
struct FieldLines: Sendable {
  /// What one hop says to the next (RFC 9110 §7.6.1), and the name of the host, which is the authority.
  static let ofConnection = FieldLines([
    "host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "upgrade",
  ])

  /// What has no business behind a body (RFC 9110 §6.5.1): framing, routing, credentials, conditions, and whatever says
  /// how the content is to be read, which is over by then.
  static let neverTrailers = FieldLines(
    ofConnection.names.joined() + [
      "trailer", "content-length", "content-encoding", "content-type", "content-range", "authorization",
      "proxy-authorization", "cookie", "set-cookie", "cache-control", "expect", "forwarded", "max-forwards",
      "pragma", "range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range",
      "x-request-id", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-http-method-override",
    ])

  /// In lower case, by their lengths.
  private let names: [[String]]

  private init(_ texts: [String]) {
    var names: [[String]] = []
    for text in texts {
      while names.count <= text.utf8.count { names.append([]) }
      names[text.utf8.count].append(text)
    }
    self.names = names
  }

  /// Whether `name` is one of them, in any case.
  func contains(_ name: UnsafeRawBufferPointer) -> Bool {
    guard name.count < names.count else { return false }
    return names[name.count].contains { $0.utf8.elementsEqual(name.lazy.map(\.lowercased)) }
  }
}

extension HTTPFields {
  /// The fields of `lines`, each of which is known to hold a token, a colon and a value and to end with CR LF, up to the
  /// first that is empty; without those called one of `names`.
  init(judgedLines lines: ArraySlice<UInt8>, without names: FieldLines) {
    self.init()
    lines.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while let end = rest.firstIndex(of: .carriageReturn), end > rest.startIndex {
        let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
        let name = UnsafeRawBufferPointer(rebasing: line[..<line.end(of: .token)])
        if !names.contains(name), let fieldName = HTTPField.Name(String(decoding: name, as: UTF8.self)) {
          let value = UnsafeRawBufferPointer(rebasing: line[(name.count + 1)...]).trimmed
          // A string is quickly made of what needs no judging. Bytes that are no UTF-8 stay as they are.
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
