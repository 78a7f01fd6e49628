import SnapshotFormat

/// What a record can be found by, as one word: a word of its texts, or an exact property.
///
/// A property is `|`, a letter that names its kind, and its value, every byte of which that is neither a small letter nor
/// a digit is spelled `|xx`; a long value is `||`, the letter, and a digest. No word of a text holds a `|`, so the two
/// never meet.
package enum SearchTerm {
  /// The kinds of properties.
  package enum Property: UInt8 {
    case report = 0x72  // r
    case reportPrefix = 0x70  // p
    case application = 0x61  // a
    case version = 0x76  // v
    case wholeVersion = 0x77  // w
    case module = 0x6D  // m
    case identifier = 0x69  // i
    case device = 0x64  // d
  }

  /// The longest value that is spelled out, in bytes.
  private static let longestValue = 48
  private static let digits = Array("0123456789abcdef".utf8)

  /// The term of a property.
  package static func of(_ property: Property, _ value: String) -> String { of(property, value.utf8) }

  /// The term of a property.
  package static func of(_ property: Property, _ value: some Collection<UInt8>) -> String {
    let bar = UInt8(ascii: "|")
    guard value.count <= longestValue else {
      let digest = ContentDigest.of(Array(value)).description.prefix(32)
      return "||\(Character(UnicodeScalar(property.rawValue)))\(digest)"
    }
    var bytes: [UInt8] = [bar, property.rawValue]
    for byte in value {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): bytes.append(byte)
      default: bytes += [bar, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The beginnings of `report` that end with a separator, shortest first: what a limit to reports by prefix is looked
  /// up by.
  package static func prefixes(ofReport report: String) -> [String] {
    var prefixes: [String] = []
    for index in report.utf8.indices where prefixes.count < 8 {
      let character = Character(UnicodeScalar(report.utf8[index]))
      if !character.isLetter && !character.isNumber {
        prefixes.append(String(decoding: report.utf8[...index], as: UTF8.self))
      }
    }
    return prefixes
  }
}

extension SnapshotRecord {
  /// What it can be found by, its identifiers aside: report, application, version, device, modules, and the words of
  /// these and of the metadata.
  package var descriptionTerms: Set<String> {
    var terms: Set<String> = [
      SearchTerm.of(.report, report.description), SearchTerm.of(.application, application.identifier),
      SearchTerm.of(.device, device.model), SearchTerm.of(.device, device.system),
      SearchTerm.of(.device, "\(device.system) \(device.systemVersion)"),
    ]
    for prefix in SearchTerm.prefixes(ofReport: report.description) {
      terms.insert(SearchTerm.of(.reportPrefix, prefix))
    }
    terms.formUnion(VersionKey(application.version).terms)
    for module in modules.prefix(SearchLimits.modules) { terms.insert(SearchTerm.of(.module, module.name)) }

    var words = WordSet()
    words.insert(report.description)
    words.insert(application.identifier)
    words.insert(device.model)
    for module in modules.prefix(SearchLimits.modules) { words.insert(module.name) }
    for (name, value) in metadata.sorted(by: { $0.key < $1.key }) {
      words.insert(name)
      words.insert(value)
    }
    return terms.union(words.words)
  }

  /// What it can be found by through its identifiers, each exactly and by its words; `nil` where they are not known.
  package var identifierTerms: Set<String>? {
    guard let identifiers else { return nil }
    var words = WordSet()
    for identifier in identifiers { words.insert(identifier) }
    return words.words.union(identifiers.lazy.map { SearchTerm.of(.identifier, $0) })
  }
}

/// Distinct words, up to ``SearchLimits/words``.
private struct WordSet {
  var words: Set<String> = []

  mutating func insert(_ text: String) {
    let room = SearchLimits.words - words.count
    guard room > 0 else { return }
    for word in SearchWords(text, limit: 4 * SearchLimits.words).words
    where words.count < SearchLimits.words { words.insert(word) }
  }
}
