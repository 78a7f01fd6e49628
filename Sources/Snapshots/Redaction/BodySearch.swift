import Foundation

/// Removes secrets from a whole recording, whatever its encoding.
struct BodySearch {
  let search: SecretSearch

  /// Returns `data` without secrets.
  func cleaned(_ data: Data) throws(RedactionLimit) -> Data {
    var text = TextEncoding(data)
    if case .latin1(isBinary: true) = text.encoding {
      let matches = search.judge.matches(in: text.bytes)
      guard !matches.isEmpty else { return data }
      text.bytes = matches.map { Edit(range: $0, bytes: text.mark(for: text.bytes[$0])) }.applied(
        to: text.bytes)
      return text.data
    }
    let findings = try search.document(text.bytes, 0)
    let edits: [Edit]
    if let findings {
      edits = try search.edits(findings, in: text.bytes, 0).merged()
    } else {
      edits = search.judge.readsText ? try TextFormat.edits(in: text.bytes, search, 0).merged() : []
    }
    if !edits.isEmpty { text.bytes = edits.applied(to: text.bytes) }
    // Regular expressions also apply to a document as a whole.
    let matches = findings != nil ? search.judge.expressionMatches(in: text.bytes) : []
    if !matches.isEmpty {
      text.bytes = matches.map { Edit(range: $0, bytes: RedactionRule.markBytes) }.applied(to: text.bytes)
    }
    return edits.isEmpty && matches.isEmpty ? data : text.data
  }
}
