import Crypto
import Foundation

/// The name of the file that holds a recording, made from the recording's identifier.
///
/// Identifiers are any text: `../x`, `CON`, `a` beside `A`, emoji, four kilobytes. Names are short ASCII that is
/// safe on ext4, APFS and NTFS, case-insensitive volumes included, and two identifiers never share one:
///
/// | in the identifier | in the name |
/// | --- | --- |
/// | `a`–`z` `0`–`9` `-` `_` `=` `+` `,` and `.` inside | themselves |
/// | `A`–`Z` | `^` and the letter in lower case |
/// | every other byte of its UTF-8, a `.` at either end, the first letter of `con`, `nul` and the like | `%` and two lower-case hexadecimal digits |
/// | nothing at all | `%` |
///
/// So `news/Feed?page=2` becomes `news%2f^feed%3fpage=2`. A name that would have more than ``maximumLength`` bytes
/// keeps its beginning, followed by `~` and the SHA-256 of the identifier; the identifier itself is then known from
/// the manifest alone. Identifiers that are equal as Swift's strings (canonical equivalence) have one name.
///
/// The characters `~` and `@` never come out of the table above. Behind `@` stands the number of a call, as in
/// `feed@2`, where an app keeps the history of an identifier.
public struct RecordingName: Hashable, Sendable, CustomStringConvertible {
  /// The most bytes of a name; with the number of a call it stays under 200.
  public static let maximumLength = 180
  /// How much of a long identifier stays readable, in bytes of the name.
  private static let prefixLength = maximumLength - 1 - 64

  /// The file name.
  public let description: String
  /// The identifier that the name spells; `nil` where it was too long to be spelt.
  public let identifier: String?
  /// The number of the call that was recorded, where a history is kept; from 1 to ``maximumCall``.
  public let call: Int?

  /// The highest number of a call: twelve digits.
  public static let maximumCall = 999_999_999_999

  /// The name for the call with the number `call`, cut to the range of such numbers, of the identifier that
  /// `name` is made of.
  public init(_ name: RecordingName, call: Int) {
    let call = min(max(call, 1), Self.maximumCall)
    self.init(description: "\(name.stem)@\(call)", identifier: name.identifier, call: call)
  }

  /// The name without the number of a call.
  public var stem: String {
    guard call != nil, let mark = description.lastIndex(of: "@") else { return description }
    return String(description[..<mark])
  }

  /// The name for `identifier`.
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

  /// Reads a name that ``init(_:)`` or ``init(_:call:)`` could have made; `nil` for any other file name.
  public init?(fileName: String) {
    if let mark = fileName.utf8.lastIndex(of: UInt8(ascii: "@")) {
      guard let call = Int(fileName[fileName.utf8.index(after: mark)...]), call >= 1,
        call <= Self.maximumCall,
        let name = RecordingName(fileName: String(fileName[..<mark])), name.call == nil
      else { return nil }
      self.init(name, call: call)
      // A number that is spelt in another way, such as 01 or +1, comes back different.
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
      // What is spelt in another way than ours, or is not UTF-8, comes back different.
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

// MARK: - The table

extension RecordingName {
  private static let reserved: Set<String> = {
    let numbered = (0...9).flatMap { ["com\($0)", "lpt\($0)"] }
    return Set(["con", "prn", "aux", "nul"] + numbered)
  }()

  /// The name, and where a prefix of it may end without cutting an escape in two.
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

  /// The bytes that `name` spells, in our way or another; `nil` where an escape is broken.
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
