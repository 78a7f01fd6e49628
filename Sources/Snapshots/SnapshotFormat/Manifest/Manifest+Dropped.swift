import JSONText

extension Manifest {
  /// Data that was not recorded, or was removed again before the snapshot was made, and why.
  public struct Dropped: Codable, Hashable, Sendable {
    /// The reason. Readers must accept reasons that they do not know.
    public struct Reason: RawRepresentable, Codable, Hashable, Sendable {
      /// The word in the manifest.
      public let rawValue: String

      /// Creates a reason.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// The data exceeded the size limit of one recording.
      public static let tooLarge = Reason(rawValue: "tooLarge")
      /// The identifier exceeded its length limit.
      public static let identifierTooLong = Reason(rawValue: "identifierTooLong")
      /// Too much data waited for the disk.
      public static let waiting = Reason(rawValue: "waiting")
      /// The disk was full.
      public static let diskFull = Reason(rawValue: "diskFull")
      /// The data could not be written.
      public static let unwritable = Reason(rawValue: "unwritable")
      /// A redaction rule could not be applied.
      public static let notRedacted = Reason(rawValue: "notRedacted")
      /// It is nested too deeply to be redacted.
      public static let tooDeep = Reason(rawValue: "tooDeep")
      /// It is binary data of an unknown format, which can't be redacted.
      public static let unknownBinary = Reason(rawValue: "unknownBinary")
      /// The value could not be encoded.
      public static let notEncoded = Reason(rawValue: "notEncoded")
      /// It is of a kind that can't be recorded.
      public static let unsupported = Reason(rawValue: "unsupported")
      /// It was removed because all recordings exceeded a limit of size or number.
      public static let limit = Reason(rawValue: "limit")
      /// It was removed because of its age.
      public static let age = Reason(rawValue: "age")
      /// It was imported from an archive that does not contain a body.
      public static let bodyMissing = Reason(rawValue: "bodyMissing")
      /// The user did not want to send it.
      public static let withheld = Reason(rawValue: "withheld")
    }

    /// The identifier, shortened if it is long; `nil` if there were too many to list.
    public var identifier: String?
    /// The reason.
    public var reason: Reason
    /// The number of calls.
    public var count: Int
    /// The bytes of all calls before redaction.
    public var bytes: Int64

    /// Creates an entry.
    public init(identifier: String?, reason: Reason, count: Int, bytes: Int64) {
      self.identifier = identifier
      self.reason = reason
      self.count = count
      self.bytes = bytes
    }

    /// The reason in a few words for people, such as `too much waited for the disk`.
    public var explanation: String {
      switch reason {
      case .tooLarge: "larger than a recording may be"
      case .identifierTooLong: "its identifier is too long"
      case .waiting: "too much waited for the disk"
      case .diskFull: "the disk was full"
      case .unwritable: "it could not be written"
      case .notRedacted: "a redaction rule could not be applied"
      case .tooDeep: "nested too deeply to be redacted"
      case .unknownBinary: "binary data of an unknown format, which can't be redacted"
      case .notEncoded: "it could not be encoded"
      case .unsupported: "it can't be recorded on this system"
      case .limit: "removed as the oldest, because the limit of all recordings was reached"
      case .age: "removed because of its age"
      case .bodyMissing: "the archive it was imported from does not contain its body"
      case .withheld: "the user did not send it"
      default: reason.rawValue
      }
    }
  }

  /// What was not recorded, and why; empty if nothing is known. Stored under the top-level key `dropped`, which older
  /// readers keep unread. Values that are not such entries are ignored.
  public var dropped: [Dropped] {
    get {
      guard case .array(let values) = unknown["dropped"] else { return [] }
      return values.compactMap(Dropped.init(json:))
    }
    set { unknown["dropped"] = newValue.isEmpty ? nil : .array(newValue.map(\.json)) }
  }
}

extension Manifest.Dropped: CustomStringConvertible {
  /// The identifier, the size and the reason on one line, such as
  /// `Dropped: news/video, 60.0 MB: too much waited for the disk`.
  public var description: String {
    let calls = count == 1 ? "" : "\(count) calls, "
    return "Dropped: \(identifier ?? "others"), \(calls)\(Self.size(bytes)): \(explanation)"
  }

  /// The size and the reason in a few words, such as `dropped: 60 MB, too much waited for the disk`.
  package var summary: String { "dropped: \(Self.size(bytes)), \(explanation)" }

  private static func size(_ bytes: Int64) -> String {
    let units: [(String, Int64)] = [("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000)]
    guard let (unit, size) = units.first(where: { bytes >= $0.1 }) else { return "\(bytes) bytes" }
    let tenths = (bytes / (size / 10)) % 10
    return tenths == 0 ? "\(bytes / size) \(unit)" : "\(bytes / size).\(tenths) \(unit)"
  }
}

extension Manifest.Dropped {
  fileprivate init?(json: JSONValue) {
    guard case .object(let members) = json, case .string(let reason) = members["reason"],
      case .integer(let count) = members["count"], count > 0, case .integer(let bytes) = members["bytes"],
      bytes >= 0
    else { return nil }
    var identifier: String?
    if case .string(let text) = members["identifier"] { identifier = text }
    self.init(
      identifier: identifier, reason: Reason(rawValue: reason), count: Int(clamping: count), bytes: bytes)
  }

  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = [
      "reason": .string(reason.rawValue), "count": .integer(Int64(count)), "bytes": .integer(bytes),
    ]
    if let identifier { members["identifier"] = .string(identifier) }
    return .object(members)
  }
}
