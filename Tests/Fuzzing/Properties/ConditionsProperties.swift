import HTTPSemantics
import HTTPTypes

extension FuzzedParser {
  /// Entity tags are parsed as they are formatted, and the result equals that of the steps in RFC 9110 §13.2.2.
  ///
  /// `input` consists of lines: `Name: value` for the conditions; `Tag:` and `Changed:` for the current representation.
  func checkConditions(_ input: [UInt8]) throws {
    var fields: HTTPFields = [:]
    var current = Preconditions.Current()
    for line in String(decoding: input, as: UTF8.self).split(separator: "\n") {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let value = String(line[colon...].dropFirst(2))
      switch line[..<colon].lowercased() {
      case "tag": current.entityTag = EntityTag(value)
      case "changed": current.lastModified = HTTPDate(value)
      case let name:
        guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { continue }
        fields.append(HTTPField(name: name, value: value))
      }
      try checkTags(value, against: current.entityTag)
    }
    let preconditions = Preconditions(fields)
    for current in [current, nil] {
      for method in [HTTPRequest.Method.get, .head, .put, .post, .delete] {
        let verdict = preconditions.verdict(method, on: current)
        let expected = verdictByTheBook(fields, method, current)
        try require(verdict == expected, "\(verdict) for \(method), \(expected) by the RFC")
      }
    }
    let isAllowed = preconditions.allowsRange(of: current.entityTag)
    if let condition = fields[.ifRange] {
      let isSame =
        current.entityTag.map { $0.description.utf8.elementsEqual(condition.utf8) && !$0.isWeak } ?? false
      try require(isAllowed == isSame, "If-Range: \(condition)")
    } else {
      try require(isAllowed, "a range is refused without If-Range")
    }
  }

  private func checkTags(_ text: String, against other: EntityTag?) throws {
    if let tag = EntityTag(text) {
      try require(tag.description == text, "\(text) is written as \(tag)")
      try require(
        tag.matchesWeakly(tag) && tag.matchesStrongly(tag) != tag.isWeak, "\(tag) does not match itself")
    }
    if case .tags(let tags)? = EntityTag.Condition(text) {
      let written = tags.map(\.description).joined(separator: ", ")
      try require(EntityTag.Condition(written) == .tags(tags), "‘\(text)’ is written as ‘\(written)’")
      for tag in tags {
        guard let other else { continue }
        try require(
          tag.matchesWeakly(other) == tag.opaque.utf8.elementsEqual(other.opaque.utf8),
          "\(tag) and \(other) compare differently from their bytes")
      }
    }
  }

  /// The steps of RFC 9110 §13.2.2, implemented literally.
  private func verdictByTheBook(
    _ fields: HTTPFields, _ method: HTTPRequest.Method, _ current: Preconditions.Current?
  ) -> Preconditions.Verdict {
    let isRead = method == .get || method == .head
    let date = { (name: HTTPField.Name) in fields[name].flatMap(HTTPDate.init) }
    // 1.
    if let field = fields[.ifMatch] {
      switch EntityTag.Condition(field) {
      case .any?: if current == nil { return .failed }
      case .tags(let tags)?:
        guard let tag = current?.entityTag, tags.contains(where: { $0.matchesStrongly(tag) }) else {
          return .failed
        }
      case nil: return .failed
      }
    }
    // 2.
    if fields[.ifMatch] == nil, let limit = date(.ifUnmodifiedSince), let changed = current?.lastModified,
      changed > limit
    {
      return .failed
    }
    // 3.
    if let field = fields[.ifNoneMatch] {
      let isThere =
        switch EntityTag.Condition(field) {
        case .any?: current != nil
        case .tags(let tags)?: tags.contains { tag in current?.entityTag.map(tag.matchesWeakly) ?? false }
        case nil: false
        }
      return !isThere ? .proceed : isRead ? .notModified : .failed
    }
    // 4.
    if isRead, let since = date(.ifModifiedSince), let changed = current?.lastModified, changed <= since {
      return .notModified
    }
    return .proceed
  }
}
