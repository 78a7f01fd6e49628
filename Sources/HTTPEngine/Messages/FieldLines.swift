import HTTPTypes

/// Which field lines are not for handlers.
enum FieldLines {
  /// What one hop says to the next (RFC 9110 §7.6.1), and the name of the host, which is the authority.
  static let ofConnection = names([
    "host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "te", "upgrade",
  ])

  /// What has no business behind a body (RFC 9110 §6.5.1): framing, routing, credentials, conditions, and whatever says
  /// how the content is to be read, which is over by then.
  static let neverTrailers = ofConnection.union(
    names([
      "trailer", "content-length", "content-encoding", "content-type", "content-range", "authorization",
      "proxy-authorization", "cookie", "set-cookie", "cache-control", "expect", "forwarded", "max-forwards",
      "pragma", "range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "if-range",
      "x-request-id", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-http-method-override",
    ]))

  private static func names(_ texts: [String]) -> Set<HTTPField.Name> {
    Set(texts.compactMap { HTTPField.Name($0) })
  }
}

extension HTTPFields {
  /// The fields of `lines`, each of which is known to hold a token, a colon and a value and to end with CR LF, up to the
  /// first that is empty; without those called one of `names`.
  init(judgedLines lines: ArraySlice<UInt8>, without names: Set<HTTPField.Name>) {
    self.init()
    var start = lines.startIndex
    while let end = lines[start...].firstIndex(of: .carriageReturn), end > start {
      if let colon = lines[start..<end].firstIndex(of: .colon),
        let name = HTTPField.Name(String(decoding: lines[start..<colon], as: UTF8.self)),
        !names.contains(name)
      {
        let value = lines[(colon + 1)..<end]
        let isBlank: (UInt8) -> Bool = { $0 == .space || $0 == .tab }
        if let first = value.firstIndex(where: { !isBlank($0) }),
          let last = value.lastIndex(where: { !isBlank($0) })
        {
          append(HTTPField(name: name, value: value[first...last]))
        } else {
          append(HTTPField(name: name, value: ""))
        }
      }
      start = end + 2
    }
  }
}
