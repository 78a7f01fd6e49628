package import SnapshotFormat

/// Why a search for text found a record: a place in the record, and its text with the matches.
package struct SearchEvidence: Sendable, Hashable {
  /// A part of a record that is searched.
  package enum Place: Sendable, Hashable, CaseIterable {
    case id, manifestID, report, note, field, identifier, module, device, system, application
  }

  /// A part of the text.
  package struct Piece: Sendable, Hashable {
    package var text: String
    /// Whether the search found this part.
    package var isMatch: Bool
  }

  /// The place.
  package var place: Place
  /// The text around the first match. A text of which more exists begins or ends with `…`.
  package var pieces: [Piece]
}

/// Finds the evidence for several records, of which it reads a limited number of bytes.
package struct EvidenceFinder {
  /// The limits of the evidence.
  package enum Limits {
    /// The maximum number of bytes of all records that are read.
    package static let bytes = 128 << 10
    /// The maximum number of places of each record.
    package static let places = 3
    /// The maximum number of characters before the first match.
    package static let before = 30
    /// The maximum number of characters from the first match on.
    package static let after = 60
  }

  private let parts: [SearchText.Part]
  private var left: Int

  /// Creates a finder for ``CatalogQuery/text``.
  package init(_ text: String, bytes: Int = Limits.bytes) {
    parts = SearchText(text).parts
    left = bytes
  }

  /// Returns the places that show why `record` was found, at most one for each word. Without the record's identifiers,
  /// or if too many bytes were read, some are missing.
  package mutating func evidence(in record: SnapshotRecord) -> [SearchEvidence] {
    var evidence: [SearchEvidence] = []
    var words: [SearchCondition.Term] = []
    for part in parts {
      if let found = part.uuid.flatMap({ Self.evidence(ofDigits: $0, in: record) }) {
        if !evidence.contains(found) { evidence.append(found) }
      } else {
        words += part.words
      }
    }
    for (place, text) in record.searchedTexts {
      guard !words.isEmpty, evidence.count < Limits.places, left > 0 else { break }
      left -= text.utf8.count
      let matches = TextMatches(of: words, in: text)
      guard !matches.found.isEmpty else { continue }
      evidence.append(SearchEvidence(place: place, pieces: matches.excerpt))
      words.removeAll { matches.found.contains($0) }
    }
    return Array(evidence.prefix(Limits.places))
  }

  private static func evidence(ofDigits digits: String, in record: SnapshotRecord) -> SearchEvidence? {
    let ids = [(SearchEvidence.Place.id, record.id)] + (record.manifestID.map { [(.manifestID, $0)] } ?? [])
    for (place, id) in ids {
      let text = id.description
      guard text.utf8.filter({ $0 != UInt8(ascii: "-") }).starts(with: digits.utf8) else { continue }
      let hyphens = [8, 12, 16, 20].count { $0 < digits.utf8.count }
      let end = text.utf8.index(text.startIndex, offsetBy: digits.utf8.count + hyphens)
      let pieces = [(text[..<end], true), (text[end...], false)].filter { !$0.0.isEmpty }
      return SearchEvidence(place: place, pieces: pieces.map { .init(text: String($0.0), isMatch: $0.1) })
    }
    return nil
  }
}

extension SnapshotRecord {
  /// The texts whose words find the record, what a user wrote first.
  fileprivate var searchedTexts: some Sequence<(SearchEvidence.Place, String)> {
    let fields = metadata.sorted { $0.key < $1.key }.filter { $0.key != Self.noteKey }
    let texts: [(SearchEvidence.Place, [String])] = [
      (.note, metadata[Self.noteKey].map { [$0] } ?? []), (.report, [report.description]),
      (.field, fields.map { "\($0.key): \($0.value)" }), (.identifier, identifiers ?? []),
      (.module, modules.prefix(SearchLimits.modules).map(\.name)), (.device, [device.model]),
      (.system, [device.system]), (.application, [application.identifier]),
    ]
    return texts.lazy.flatMap { place, texts in texts.lazy.map { (place, $0) } }
  }
}

/// The matches of words in a text.
private struct TextMatches {
  /// The words that were found.
  private(set) var found: Set<SearchCondition.Term> = []
  /// The text around the first match.
  private(set) var excerpt: [SearchEvidence.Piece] = []

  private let words: [SearchCondition.Term]
  private let text: String
  private var ranges: [Range<String.Index>] = []
  /// The word that is being read: its letters, and after each character its end and the number of bytes so far.
  private var word: [UInt8] = []
  private var start: String.Index
  private var ends: [(bytes: Int, index: String.Index)] = []

  init(of words: [SearchCondition.Term], in text: String) {
    (self.words, self.text, start) = (words, text, text.startIndex)
    var previous: (bytes: [UInt8], start: String.Index)?
    var index = text.startIndex
    while index < text.endIndex {
      let next = text.index(after: index)
      let (letters, single) = Self.folded(text[index])
      if !letters.isEmpty {
        if word.isEmpty { start = index }
        word += letters
        ends.append((word.count, next))
      } else {
        endWord()
      }
      if let single {
        compare(single, index..<next)
        if let previous { compare(previous.bytes + single, previous.start..<next) }
      }
      previous = single.map { ($0, index) }
      index = next
    }
    endWord()
    excerpt = makeExcerpt()
  }

  /// Returns the letters of a character that are part of a word, or the character itself if it is searched for alone.
  private static func folded(_ character: Character) -> (letters: [UInt8], single: [UInt8]?) {
    switch character.asciiValue {
    case (UInt8(ascii: "a")...UInt8(ascii: "z"))?, (UInt8(ascii: "0")...UInt8(ascii: "9"))?:
      return (Array(character.utf8), nil)
    case (UInt8(ascii: "A")...UInt8(ascii: "Z"))?: return (character.utf8.map { $0 | 0x20 }, nil)
    case .some: return ([], nil)
    case nil: break
    }
    var (letters, single): ([UInt8], [UInt8]?) = ([], nil)
    FoldedText.forEachPiece(of: String(character)) { piece in
      switch piece {
      case .word(let word): letters += word
      case .character(let character, _): single = character
      }
      return true
    }
    return (letters, single)
  }

  /// Compares a complete word.
  private mutating func endWord() {
    defer { (word, ends) = ([], []) }
    guard !word.isEmpty else { return }
    for term in words
    where term.isPrefix ? word.starts(with: term.text.utf8) : word.elementsEqual(term.text.utf8) {
      found.insert(term)
      if let end = ends.first(where: { $0.bytes >= term.text.utf8.count }) {
        ranges.append(start..<end.index)
      }
    }
  }

  /// Compares a character of a script without spaces, or a pair of them.
  private mutating func compare(_ character: [UInt8], _ range: Range<String.Index>) {
    for term in words where !term.isPrefix && character.elementsEqual(term.text.utf8) {
      found.insert(term)
      ranges.append(range)
    }
  }

  private func makeExcerpt() -> [SearchEvidence.Piece] {
    guard let first = ranges.map(\.lowerBound).min() else { return [] }
    let start = text.index(first, offsetBy: -EvidenceFinder.Limits.before, limitedBy: text.startIndex)
    let end = text.index(first, offsetBy: EvidenceFinder.Limits.after, limitedBy: text.endIndex)
    let whole = (start ?? text.startIndex)..<(end ?? text.endIndex)
    var pieces: [SearchEvidence.Piece] = []
    var index = whole.lowerBound
    func append(_ piece: Range<String.Index>, isMatch: Bool) {
      guard !piece.isEmpty else { return }
      let line = String(text[piece].map { $0.isNewline ? " " : $0 })
      pieces.append(.init(text: line, isMatch: isMatch))
    }
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      let match =
        max(range.lowerBound, index)..<max(min(range.upperBound, whole.upperBound), index, range.lowerBound)
      guard match.lowerBound < whole.upperBound else { break }
      append(index..<match.lowerBound, isMatch: false)
      append(match, isMatch: true)
      index = match.upperBound
    }
    append(index..<whole.upperBound, isMatch: false)
    if whole.lowerBound > text.startIndex { pieces.insert(.init(text: "…", isMatch: false), at: 0) }
    if whole.upperBound < text.endIndex { pieces.append(.init(text: "…", isMatch: false)) }
    return pieces
  }
}
