import SnapshotFormat

/// The terms by which a record is found: a word of its texts, or the exact value of a property.
///
/// The term of a property is `|`, a letter for the property, and the value. Every byte of the value except lower-case
/// letters and digits is written as `|` and two hexadecimal digits. The term of a long value is `||`, the letter, and a
/// digest. Words never contain `|`, so that they cannot equal the term of a property.
package enum SearchTerm {
  /// The properties that can be searched for.
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

  /// The maximum length of a value that is not replaced by its digest, in bytes.
  fileprivate static let longestValue = 48
  fileprivate static let digits = Array("0123456789abcdef".utf8)

  /// Returns the term of a property.
  package static func of(_ property: Property, _ value: String) -> String { of(property, value.utf8) }

  /// Returns the term of a property.
  package static func of(_ property: Property, _ value: some Collection<UInt8>) -> String {
    var terms = TermList()
    terms.insert(property, value)
    return terms.text
  }

  /// Returns the beginnings of `report` that end with a separator, shortest first, at most eight. A restriction to a
  /// prefix of reports is found by these terms.
  package static func prefixes(ofReport report: String) -> [String] {
    var prefixes: [String] = []
    let bytes = report.utf8
    for index in bytes.indices where prefixes.count < 8 {
      switch bytes[index] {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
        break
      default: prefixes.append(String(decoding: bytes[...index], as: UTF8.self))
      }
    }
    return prefixes
  }
}

extension TermList {
  /// Inserts the term of a property.
  mutating func insert(_ property: SearchTerm.Property, _ value: String) { insert(property, value.utf8) }

  /// Inserts the term of a property.
  mutating func insert(_ property: SearchTerm.Property, _ value: some Collection<UInt8>) {
    let bar = UInt8(ascii: "|")
    append(bar)
    if value.count > SearchTerm.longestValue {
      append(bar)
      append(property.rawValue)
      append(ContentDigest.of(Array(value)).description.utf8.prefix(32))
    } else {
      append(property.rawValue)
      for byte in value {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): append(byte)
        default:
          append(bar)
          append(SearchTerm.digits[Int(byte >> 4)])
          append(SearchTerm.digits[Int(byte & 15)])
        }
      }
    }
    endTerm()
  }
}

extension SnapshotRecord {
  /// The terms of the record without its identifiers: report, application, version, device, modules, and the words of
  /// these and of the metadata. If its UUID is not its manifest's, the words of both UUIDs.
  package var descriptionTerms: TermList {
    var terms = TermList()
    var words = WordCount(limit: SearchLimits.words)
    if let manifestID {
      terms.insertWords(of: id.description, &words)
      terms.insertWords(of: manifestID.description, &words)
    }
    terms.insert(.report, report.description)
    for prefix in SearchTerm.prefixes(ofReport: report.description) { terms.insert(.reportPrefix, prefix) }
    terms.insertWords(of: report.description, &words)
    terms.insert(.application, application.identifier)
    terms.insertWords(of: application.identifier, &words)
    let version = VersionKey(application.version)
    for group in version.groups { terms.insert(.version, group) }
    terms.insert(.wholeVersion, version.bytes)
    terms.insert(.device, device.model)
    terms.insertWords(of: device.model, &words)
    terms.insert(.device, device.system)
    terms.insert(.device, "\(device.system) \(device.systemVersion)")
    for module in modules.prefix(SearchLimits.modules) {
      terms.insert(.module, module.name)
      terms.insertWords(of: module.name, &words)
    }
    for (name, value) in metadata.sorted(by: { $0.key < $1.key }) where name != Self.noteKey {
      terms.insertWords(of: name, &words)
      terms.insertWords(of: value, &words)
    }
    // The note can have more words than the limit, so it comes last.
    if let note = metadata[Self.noteKey] {
      terms.insertWords(of: Self.noteKey, &words)
      terms.insertWords(of: note, &words)
    }
    return terms
  }

  /// The terms of the identifiers: each exactly, and its words; `nil` if the identifiers are not known.
  package var identifierTerms: TermList? {
    guard let identifiers else { return nil }
    var terms = TermList()
    var words = WordCount(limit: SearchLimits.words)
    for identifier in identifiers {
      terms.insert(.identifier, identifier)
      terms.insertWords(of: identifier, &words)
    }
    return terms
  }
}

/// The limits of the indexed terms of a record, and of a search.
public enum SearchLimits {
  /// The maximum number of distinct words of a record without its identifiers, and also of the identifiers.
  public static let words = 4000
  /// The maximum length of a word in bytes of UTF-8. A longer word is shortened.
  public static let wordBytes = 64
  /// The maximum number of indexed modules of a record.
  public static let modules = 500
  /// The maximum length of a filter's value in bytes.
  public static let filterBytes = 1024
  /// The maximum number of words in a search.
  public static let queryWords = 16
}
