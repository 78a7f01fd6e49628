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
  fileprivate static let longestValue = 48
  fileprivate static let digits = Array("0123456789abcdef".utf8)

  /// The term of a property.
  package static func of(_ property: Property, _ value: String) -> String { of(property, value.utf8) }

  /// The term of a property.
  package static func of(_ property: Property, _ value: some Collection<UInt8>) -> String {
    var terms = TermList()
    terms.insert(property, value)
    return terms.text
  }

  /// The beginnings of `report` that end with a separator, shortest first: what a limit to reports by prefix is looked
  /// up by.
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
  /// What it can be found by, its identifiers aside: report, application, version, device, modules, and the words of
  /// these and of the metadata.
  package var descriptionTerms: TermList {
    var terms = TermList()
    var words = WordCount(limit: SearchLimits.words)
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
    for (name, value) in metadata.sorted(by: { $0.key < $1.key }) {
      terms.insertWords(of: name, &words)
      terms.insertWords(of: value, &words)
    }
    return terms
  }

  /// What it can be found by through its identifiers, each exactly and by its words; `nil` where they are not known.
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
