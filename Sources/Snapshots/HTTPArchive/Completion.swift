/// Adds what HAR 1.2 requires and an entry does not have, with values that say nothing.
enum Completion {
  private enum Kind { case text, number, array, object }

  private static let entry: [(String, ArchiveValue, Kind)] = [
    ("startedDateTime", ArchiveValue("1970-01-01T00:00:00.000Z"), .text), ("time", ArchiveValue(0), .number),
    ("request", .object([]), .object), ("response", .object([]), .object), ("cache", .object([]), .object),
    ("timings", .object([]), .object),
  ]
  private static let request: [(String, ArchiveValue, Kind)] = [
    ("method", ArchiveValue(""), .text), ("url", ArchiveValue(""), .text),
    ("httpVersion", ArchiveValue("HTTP/1.1"), .text), ("cookies", .array([]), .array),
    ("headers", .array([]), .array), ("queryString", .array([]), .array),
    ("headersSize", ArchiveValue(-1), .number), ("bodySize", ArchiveValue(-1), .number),
  ]
  private static let response: [(String, ArchiveValue, Kind)] = [
    ("status", ArchiveValue(0), .number), ("statusText", ArchiveValue(""), .text),
    ("httpVersion", ArchiveValue("HTTP/1.1"), .text), ("cookies", .array([]), .array),
    ("headers", .array([]), .array), ("content", .object([]), .object),
    ("redirectURL", ArchiveValue(""), .text), ("headersSize", ArchiveValue(-1), .number),
    ("bodySize", ArchiveValue(-1), .number),
  ]
  private static let content: [(String, ArchiveValue, Kind)] = [
    ("size", ArchiveValue(-1), .number), ("mimeType", ArchiveValue("x-unknown"), .text),
  ]
  private static let timings = ["send", "wait", "receive"].map { ($0, ArchiveValue(-1), Kind.number) }
  private static let page: [(String, ArchiveValue, Kind)] = [
    ("startedDateTime", ArchiveValue("1970-01-01T00:00:00.000Z"), .text), ("id", ArchiveValue(""), .text),
    ("title", ArchiveValue(""), .text), ("pageTimings", .object([]), .object),
  ]
  private static let otherTimings = ["blocked", "dns", "connect", "ssl"]

  /// Returns an entry with everything that is required. A value of the wrong type is replaced.
  static func entry(_ value: ArchiveValue) -> ArchiveValue {
    var value = complete(value, entry)
    var sent = complete(value["request"] ?? .object([]), request)
    if let posted = sent["postData"] {
      sent["postData"] = posted.isObject ? complete(posted, [("mimeType", ArchiveValue(""), .text)]) : nil
    }
    value["request"] = sent
    var received = complete(value["response"] ?? .object([]), response)
    received["content"] = complete(received["content"] ?? .object([]), content)
    value["response"] = received
    var times = complete(value["timings"] ?? .object([]), timings)
    // A program writes `null` for a time that it can't compute.
    for name in otherTimings where times[name] == .null { times[name] = ArchiveValue(-1) }
    value["timings"] = times
    // Chromium writes an empty address if there was no connection, and that of IPv6 in brackets.
    if let address = value["serverIPAddress"]?.text {
      let plain =
        address.hasPrefix("[") && address.hasSuffix("]") ? String(address.dropFirst().dropLast()) : address
      if plain != address { value["serverIPAddress"] = ArchiveValue(plain) }
      if plain.isEmpty { value["serverIPAddress"] = nil }
    }
    return value
  }

  /// Returns the list of pages with everything that is required.
  static func pages(_ value: ArchiveValue) -> ArchiveValue {
    guard case .array(let pages) = value else { return .array([]) }
    return .array(pages.map { complete($0.isObject ? $0 : .object([]), page) })
  }

  private static func complete(
    _ value: ArchiveValue, _ members: [(name: String, empty: ArchiveValue, kind: Kind)]
  ) -> ArchiveValue {
    var value = value
    for member in members where !(value[member.name].map { isOf(member.kind, $0) } ?? false) {
      value[member.name] = member.empty
    }
    return value
  }

  private static func isOf(_ kind: Kind, _ value: ArchiveValue) -> Bool {
    switch (kind, value) {
    case (.text, .string), (.number, .number), (.array, .array), (.object, .object): true
    default: false
    }
  }
}

extension ArchiveValue.Member {
  /// The member of a log with everything that HAR requires of pages.
  package var completed: Self { name == "pages" ? Self(name, Completion.pages(value)) : self }
}
