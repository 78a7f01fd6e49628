import Foundation
import SnapshotFormat

/// The terms by which a record is found: a word of its texts, or the exact value of a property.
///
/// The term of a property is `|`, a letter for the property, and the value. Every byte of the value except lower-case
/// letters and digits is written as `|` and two hexadecimal digits. The term of a long value is `||`, the letter, and a
/// digest. Words never contain `|`, so that they cannot equal the term of a property.
///
/// A value that is not composed (Unicode NFC), such as a file name of macOS, has a second term: that of its composed form.
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
    case uuid = 0x75  // u
  }

  /// The maximum length of a value that is not replaced by its digest, in bytes.
  fileprivate static let longestValue = 48
  fileprivate static let digits = Array("0123456789abcdef".utf8)

  /// Returns the term of a property whose value is ASCII.
  package static func of(_ property: Property, _ value: String) -> String { of(property, value.utf8) }

  /// Returns the term of a property.
  package static func of(_ property: Property, _ value: some Collection<UInt8>) -> String {
    var terms = TermList()
    terms.insert(property, value)
    return terms.text
  }

  /// Returns the terms of which a record has at least one if its value of the property is canonically equivalent to
  /// `value`. Earlier versions indexed a value only as it was, which is usually composed or decomposed.
  package static func alternatives(_ property: Property, _ value: String) -> [String] {
    guard !value.utf8.allSatisfy({ $0 < 0x80 }) else { return [of(property, value)] }
    let forms = [
      value.precomposedStringWithCanonicalMapping, value.decomposedStringWithCanonicalMapping, value,
    ]
    return forms.reduce(into: []) { terms, form in
      let term = of(property, form.utf8)
      if !terms.contains(term) { terms.append(term) }
    }
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
  /// Inserts the term of a property, and that of the composed form of its value.
  mutating func insert(_ property: SearchTerm.Property, _ value: String) {
    insert(property, value.utf8)
    guard !value.utf8.allSatisfy({ $0 < 0x80 }) else { return }
    insert(property, value.precomposedStringWithCanonicalMapping.utf8)
  }

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

extension TermList {
  /// Inserts the term of a UUID: its hexadecimal digits.
  fileprivate mutating func insert(_ id: SnapshotID) {
    append(UInt8(ascii: "|"))
    append(SearchTerm.Property.uuid.rawValue)
    for byte in id.bytes {
      append(SearchTerm.digits[Int(byte >> 4)])
      append(SearchTerm.digits[Int(byte & 15)])
    }
    endTerm()
  }

  /// Inserts the values of the filter for a device: the model, the model without the part after the comma, the system,
  /// and the system with its version, and with the beginnings of the version that end before a full stop.
  fileprivate mutating func insertDevice(_ device: Manifest.Device) {
    let model = device.model
    insert(.device, model)
    if let comma = model.utf8.firstIndex(of: UInt8(ascii: ",")), comma > model.startIndex {
      insert(.device, String(decoding: model.utf8[..<comma], as: UTF8.self))
    }
    insert(.device, device.system)
    let version = "\(device.system) \(device.systemVersion)"
    insert(.device, version)
    let ends = version.utf8.indices.dropFirst(device.system.utf8.count).filter {
      version.utf8[$0] == UInt8(ascii: ".")
    }
    for end in ends.prefix(SearchLimits.deviceVersions) {
      insert(.device, String(decoding: version.utf8[..<end], as: UTF8.self))
    }
  }
}

extension SnapshotRecord {
  /// The terms of the record without its identifiers: both UUIDs, report, application, version, device, modules, and the
  /// words of these and of the metadata.
  package var descriptionTerms: TermList {
    var terms = TermList()
    var words = WordCount(limit: SearchLimits.words)
    terms.insert(id)
    if let manifestID { terms.insert(manifestID) }
    terms.insert(.report, report.description)
    for prefix in SearchTerm.prefixes(ofReport: report.description) { terms.insert(.reportPrefix, prefix) }
    terms.insertWords(of: report.description, &words)
    terms.insert(.application, application.identifier)
    terms.insertWords(of: application.identifier, &words)
    let version = VersionKey(application.version)
    for group in version.groups { terms.insert(.version, group) }
    terms.insert(.wholeVersion, version.bytes)
    terms.insertDevice(device)
    terms.insertWords(of: device.model, &words)
    terms.insertWords(of: device.system, &words)
    for module in modules.prefix(SearchLimits.modules) {
      terms.insert(.module, module.name)
      terms.insertWords(of: module.name, &words)
    }
    for (name, value) in metadata.sorted(by: { $0.key < $1.key }) where name != Self.noteKey {
      terms.insertWords(of: name, &words)
      terms.insertWords(of: value, &words)
    }
    // The note can have more words than the limit, so it comes last.
    if let note = metadata[Self.noteKey] { terms.insertWords(of: note, &words) }
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
  /// The maximum number of distinct words of a record without its identifiers, and also of the identifiers. Each
  /// character and each pair of neighbours of a text without spaces counts as a word. All of the longest note are
  /// within the limit.
  public static let words = 16_000
  /// The maximum length of a word in bytes of UTF-8. A longer word is shortened.
  public static let wordBytes = 64
  /// The maximum number of indexed modules of a record.
  public static let modules = 500
  /// The maximum number of beginnings of a system's version by which a device is found.
  public static let deviceVersions = 4
  /// The maximum length of a filter's value in bytes.
  public static let filterBytes = 1024
  /// The maximum number of words in a search.
  public static let queryWords = 16
  /// The number of letters or digits from which a word also finds longer words that begin with it.
  public static let prefixLetters = 2
  /// The number of digits from which the beginning of a UUID finds the snapshot.
  public static let uuidDigits = 4
}
