/// Judges the kind of contents by their first bytes.
enum ContentKind {
  /// The beginnings of images that browsers show, and of HEIC.
  private static let images: [[UInt8]] = [
    [0x89, 0x50, 0x4E, 0x47], [0xFF, 0xD8, 0xFF], Array("GIF8".utf8),
  ]

  static func of(_ head: ArraySlice<UInt8>) -> ContentState.Kind {
    if head.isEmpty { return .empty }
    if images.contains(where: head.starts) { return .image }
    if head.starts(with: Array("RIFF".utf8)), head.dropFirst(8).starts(with: Array("WEBP".utf8)) {
      return .image
    }
    if head.dropFirst(4).starts(with: Array("ftypheic".utf8)) { return .image }
    if head.starts(with: Array("bplist00".utf8)) { return .propertyList }
    // UTF-16 has NUL bytes, and is text nevertheless.
    if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) { return .text }
    guard isText(head) else { return .binary }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = (head.starts(with: mark) ? head.dropFirst(mark.count) : head).drop { isSpace($0) }
    switch text.first {
    case UInt8(ascii: "{"), UInt8(ascii: "["): return .json
    case UInt8(ascii: "<"): return markup(text)
    default: return .text
    }
  }

  private static func markup(_ text: ArraySlice<UInt8>) -> ContentState.Kind {
    let words = String(decoding: text, as: UTF8.self).lowercased()
    if words.hasPrefix("<!doctype html") || words.hasPrefix("<html") { return .html }
    if words.contains("<!doctype plist") || words.contains("<plist") { return .propertyList }
    if words.hasPrefix("<?xml") { return words.contains("<html") ? .html : .xml }
    return .text
  }

  private static func isText(_ head: ArraySlice<UInt8>) -> Bool {
    var unusual = 0
    for byte in head {
      if byte == 0 { return false }
      if byte < 0x1B, !isSpace(byte), byte != 0x0C { unusual += 1 }
    }
    return unusual * 16 <= head.count && hasFewBrokenCharacters(head)
  }

  /// Whether the bytes are mostly UTF-8: a character may be cut off at the end, and a few may be broken.
  private static func hasFewBrokenCharacters(_ head: ArraySlice<UInt8>) -> Bool {
    let broken = String(decoding: head, as: UTF8.self).unicodeScalars.count { $0 == "\u{FFFD}" }
    return broken <= max(2, head.count / 16)
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 || byte == 0x1E
  }
}

/// Recognizes pages in HTML that report an error, as proxies and web servers send them instead of what was asked for.
enum ErrorPage {
  private static let words = [
    "bad gateway", "service unavailable", "gateway timeout", "gateway time-out", "not found", "forbidden",
    "access denied", "internal server error", "too many requests", "unauthorized", "maintenance", "error",
  ]
  /// The most characters of a title that are read.
  private static let titleLength = 300

  /// The problem that a page with this beginning has; `nil` if its title and first heading report no error.
  static func problem(of head: ArraySlice<UInt8>) -> RecordingProblem? {
    let page = String(decoding: head, as: UTF8.self).lowercased()
    for element in ["<title", "<h1"] {
      guard let text = text(of: element, in: page) else { continue }
      let status = text.split { !$0.isNumber }.lazy.filter { $0.count == 3 }.compactMap { Int($0) }
        .first { (400..<600).contains($0) }
      if status != nil || words.contains(where: text.contains) { return .errorPage(status: status) }
    }
    return nil
  }

  private static func text(of element: String, in page: String) -> Substring? {
    guard let tag = page.firstRange(of: element), let end = page[tag.upperBound...].firstIndex(of: ">") else {
      return nil
    }
    return page[page.index(after: end)...].prefix(titleLength).prefix { $0 != "<" }
  }
}
