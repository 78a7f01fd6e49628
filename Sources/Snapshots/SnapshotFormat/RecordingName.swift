import Foundation

#if canImport(CryptoKit)
  import CryptoKit
#else
  import Crypto
#endif

/// The name of the file that contains a recording, derived from the recording's identifier.
///
/// An identifier can be any text: `../x`, `CON`, `a` and `A`, emoji, four kilobytes. File names are short ASCII names
/// that are safe on ext4, APFS and NTFS, including case-insensitive volumes, and two identifiers never have the same
/// name:
///
/// | in the identifier | in the name |
/// | --- | --- |
/// | `a`–`z` `0`–`9` `-` `_` `=` `+` `,` and `.` except at either end | unchanged |
/// | `A`–`Z` | `^` and the letter in lower case |
/// | every other byte of its UTF-8, a `.` at either end, the first letter of `con`, `nul` and other reserved names | `%` and two lower-case hexadecimal digits |
/// | the empty identifier | `%` |
///
/// For example, `news/Feed?page=2` becomes `news%2f^feed%3fpage=2`. If a name would have more than ``maximumLength``
/// bytes, it consists of the beginning of that name, `~` and the SHA-256 of the identifier; only the manifest then
/// contains the identifier itself. Identifiers that are equal as Swift strings (canonical equivalence) have the same
/// name.
///
/// The table never produces the characters `~` and `@`. If an app keeps the history of an identifier, `@` and the
/// number of the call follow, as in `feed@2`.
public struct RecordingName: Hashable, Sendable, CustomStringConvertible {
  /// The maximum length of a name in bytes. With the number of a call, it stays below 200.
  public static let maximumLength = 180
  /// The number of bytes of a long identifier's name that remain readable.
  private static let prefixLength = maximumLength - 1 - 64

  /// The file name.
  public let description: String
  /// The identifier that the name encodes; `nil` if it was too long.
  public let identifier: String?
  /// The number of the recorded call, if a history is kept, from 1 to ``maximumCall``.
  public let call: Int?

  /// The maximum number of a call, with twelve digits.
  public static let maximumCall = 999_999_999_999

  /// Creates the name for a call of the identifier that `name` encodes. `call` is clamped to the range from 1 to
  /// ``maximumCall``.
  public init(_ name: RecordingName, call: Int) {
    let call = min(max(call, 1), Self.maximumCall)
    self.init(description: "\(name.stem)@\(call)", identifier: name.identifier, call: call)
  }

  /// The name without the number of a call.
  public var stem: String {
    guard call != nil, let mark = description.lastIndex(of: "@") else { return description }
    return String(description[..<mark])
  }

  /// Creates the name for `identifier`.
  public init(_ identifier: String) {
    call = nil
    let canonical = Self.canonical(identifier)
    let (name, prefix) = Self.encode(Array(canonical.utf8))
    if name.count <= Self.maximumLength {
      description = String(decoding: name, as: UTF8.self)
      self.identifier = canonical
    } else {
      let digest = ContentDigest(SHA256.hash(data: Array(canonical.utf8)))
      description = String(decoding: name[..<prefix], as: UTF8.self) + "~\(digest)"
      self.identifier = nil
    }
  }

  /// Parses a name that ``init(_:)`` or ``init(_:call:)`` can create; `nil` for any other file name.
  public init?(fileName: String) {
    if let mark = fileName.utf8.lastIndex(of: UInt8(ascii: "@")) {
      guard let call = Int(fileName[fileName.utf8.index(after: mark)...]), call >= 1,
        call <= Self.maximumCall,
        let name = RecordingName(fileName: String(fileName[..<mark])), name.call == nil
      else { return nil }
      self.init(name, call: call)
      // A number with another spelling, such as 01 or +1, gives a different name.
      guard description.utf8.elementsEqual(fileName.utf8) else { return nil }
    } else if let separator = fileName.utf8.firstIndex(of: UInt8(ascii: "~")) {
      let digest = fileName[fileName.utf8.index(after: separator)...]
      guard let prefix = Self.decode(fileName[..<separator].utf8), !prefix.isEmpty,
        fileName.utf8.count <= Self.maximumLength,
        ContentDigest(hexadecimal: String(digest))?.description == String(digest)
      else { return nil }
      self.init(description: fileName, identifier: nil, call: nil)
    } else {
      guard let bytes = Self.decode(fileName.utf8) else { return nil }
      self.init(String(decoding: bytes, as: UTF8.self))
      // Names with another spelling, or that are not UTF-8, give a different name.
      guard description.utf8.elementsEqual(fileName.utf8) else { return nil }
    }
  }

  private init(description: String, identifier: String?, call: Int?) {
    self.description = description
    self.identifier = identifier
    self.call = call
  }

  private static func canonical(_ identifier: String) -> String {
    identifier.utf8.allSatisfy { $0 < 0x80 } ? identifier : identifier.precomposedStringWithCanonicalMapping
  }
}

// MARK: - Encoding

extension RecordingName {
  private static let reserved: Set<String> = {
    let numbered = (0...9).flatMap { ["com\($0)", "lpt\($0)"] }
    return Set(["con", "prn", "aux", "nul"] + numbered)
  }()

  /// The encoded name, and the length of the longest allowed prefix that does not split an escape sequence.
  private static func encode(_ bytes: [UInt8]) -> (name: [UInt8], prefix: Int) {
    guard !bytes.isEmpty else { return ([UInt8(ascii: "%")], 0) }
    let stem = bytes.prefix { $0 != UInt8(ascii: ".") }
    let isReserved = stem.count <= 4 && reserved.contains(String(decoding: stem, as: UTF8.self))
    var name: [UInt8] = []
    var prefix = 0
    for (index, byte) in bytes.enumerated() {
      let isAtAnEnd = index == 0 || index == bytes.count - 1
      switch byte {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"):
        name += [UInt8(ascii: "^"), byte | 0x20]
      case UInt8(ascii: ".") where isAtAnEnd:
        name += escape(byte)
      case _ where index == 0 && isReserved:
        name += escape(byte)
      case _ where isPlain(byte):
        name.append(byte)
      default:
        name += escape(byte)
      }
      if name.count <= prefixLength { prefix = name.count }
    }
    return (name, prefix)
  }

  /// The bytes that `name` encodes, also in a spelling that ``init(_:)`` does not produce; `nil` if it is invalid.
  private static func decode(_ name: Substring.UTF8View) -> [UInt8]? {
    var rest = Array(name)[...]
    guard !rest.elementsEqual([UInt8(ascii: "%")]) else { return [] }
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "^"):
        guard let letter = rest.popFirst(), letter >= UInt8(ascii: "a"), letter <= UInt8(ascii: "z")
        else { return nil }
        bytes.append(letter & ~0x20)
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst(), let low = rest.popFirst(),
          let value = UInt8(String(decoding: [high, low], as: UTF8.self), radix: 16)
        else { return nil }
        bytes.append(value)
      case _ where isPlain(byte):
        bytes.append(byte)
      default:
        return nil
      }
    }
    return bytes.isEmpty ? nil : bytes
  }

  private static func decode(_ name: String.UTF8View) -> [UInt8]? { decode(name[...]) }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: ","): true
    case UInt8(ascii: "."): true
    default: false
    }
  }

  private static func escape(_ byte: UInt8) -> [UInt8] {
    Array("%".utf8) + (byte < 16 ? Array("0".utf8) : []) + Array(String(byte, radix: 16).utf8)
  }
}
