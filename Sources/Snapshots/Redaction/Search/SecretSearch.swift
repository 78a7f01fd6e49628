import JSONText

/// Why data can't be redacted, and so is not kept.
package enum RedactionLimit: Error, Hashable, CustomStringConvertible {
  /// Documents or encodings are nested too deeply.
  case tooDeep
  /// It has too many bytes after decompression.
  case tooLarge(Int)
  /// It is binary data of an unknown format.
  case unknownBinary
  /// It can't be compressed again.
  case outOfMemory
  /// A regular expression takes too long to search it.
  case tooSlow

  package var description: String {
    switch self {
    case .tooDeep: "its values are nested too deeply"
    case .tooLarge(let limit): "it has more than \(limit) bytes after decompression"
    case .unknownBinary: "it is binary data of an unknown format"
    case .tooSlow: "a regular expression takes too long to search it"
    case .outOfMemory: "there is not enough memory to compress it again"
    }
  }
}

/// Searches text for secrets: finds its format, judges the names and values in it, and searches values that contain
/// further documents.
struct SecretSearch {
  /// The maximum nesting of documents and encodings in values.
  static let depthLimit = 8

  let judge: Judge
  let unknownBinaries: UnknownBinaries

  /// Returns the edits that remove all secrets from `text`, in order and without overlaps.
  func edits(in text: [UInt8], _ depth: Int = 0) throws(RedactionLimit) -> [Edit] {
    guard depth <= Self.depthLimit else { throw .tooDeep }
    if let findings = try document(text, depth) { return try edits(findings, in: text, depth).merged() }
    return judge.readsText ? try TextFormat.edits(in: text, self, depth).merged() : []
  }

  /// Returns what a document contains; `nil` for other text, and for a document that is not valid.
  func document(_ text: [UInt8], _ depth: Int) throws(RedactionLimit) -> Findings? {
    if JSONFormat.isLikely(text) {
      let json = JSONFormat(text, judge, usesPaths: depth == 0)
      if json.isTooDeep { throw .tooDeep }
      if json.failure == nil { return json.findings }
    }
    if MarkupFormat.isLikely(text) { return MarkupFormat(text, judge).findings }
    return MultipartFormat.find(text, judge) ?? EventStreamFormat.find(text)
  }

  /// Returns the edits of a document's findings.
  func edits(_ findings: Findings, in document: [UInt8], _ depth: Int) throws(RedactionLimit) -> [Edit] {
    var edits = findings.edits
    let texts = findings.texts
    let matches = judge.matches(in: texts)
    var next = 0
    for value in findings.values {
      while next < matches.count, matches[next].upperBound <= value.text.lowerBound { next += 1 }
      let isNested = value.placeholder == nil && Nesting.isLikely(texts, value.text)
      guard isNested || next < matches.count && matches[next].lowerBound < value.text.upperBound else {
        continue
      }
      var found: [Edit] = []
      if isNested {
        found = try self.edits(in: Array(texts[value.text]), depth + 1)
      } else {
        for match in matches[next...] {
          guard match.lowerBound < value.text.upperBound else { break }
          let part = match.clamped(to: value.text)
          let start = part.lowerBound - value.text.lowerBound
          if !part.isEmpty {
            let placeholder = judge.placeholders.text(texts[part])
            found.append(Edit(range: start..<start + part.count, bytes: placeholder))
          }
        }
      }
      if found.isEmpty { continue }
      if let placeholder = value.placeholder {
        edits.append(Edit(range: value.range, bytes: Array("\(placeholder)".utf8)))
      } else {
        edits += value.escaping.edits(found, in: document, value.range)
      }
    }
    return edits
  }
}

/// Whether a text may contain a document or an encoding, so that most values need not be searched on their own.
enum Nesting {
  private static let marks = ByteSet("{[<%\\")

  static func isLikely(_ text: [UInt8], _ range: Range<Int>) -> Bool {
    // A part of a form needs no other mark.
    if range.count >= 2, text[range.lowerBound] == UInt8(ascii: "-"),
      text[range.lowerBound + 1] == UInt8(ascii: "-")
    {
      return true
    }
    let (marks, digits) = (marks, Base64.digits)
    var start = range.lowerBound
    while start < range.upperBound {
      let end = digits.end(text, start..<range.upperBound)
      if end - start >= Base64.shortest, mayBeBase64(text, start..<end) { return true }
      guard end < range.upperBound else { return false }
      let byte = text[end]
      if marks.contains(byte) || byte == UInt8(ascii: "&") && Escaping.isEntity(text, end, range.upperBound) {
        return true
      }
      start = end + 1
    }
    return false
  }

  /// Whether the run, or a part of it between slashes, begins like the base64 encoding of text.
  private static func mayBeBase64(_ text: [UInt8], _ run: Range<Int>) -> Bool {
    if Base64.isLikely(text, run) { return true }
    var start = run.lowerBound
    for index in run where text[index] == UInt8(ascii: "/") {
      if index - start >= Base64.shortest, Base64.isLikely(text, start..<index) { return true }
      start = index + 1
    }
    return start > run.lowerBound && run.upperBound - start >= Base64.shortest
      && Base64.isLikely(text, start..<run.upperBound)
  }
}
