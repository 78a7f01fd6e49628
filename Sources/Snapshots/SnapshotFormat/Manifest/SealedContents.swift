import JSONText

/// What the clear head of a sealed bundle says about its contents. Nothing proves it: only the contents are authenticated.
public struct SealedContents: Codable, Hashable, Sendable {
  /// A key to which the bundle is sealed.
  public struct Recipient: Codable, Hashable, Sendable {
    /// The type of the stanza in the age header, such as `X25519`.
    public var type: String
    /// The public key, such as `age1…`; `nil` if it is not known.
    public var recipient: String?

    /// Creates a recipient.
    public init(type: String, recipient: String? = nil) {
      self.type = type
      self.recipient = recipient
    }
  }

  /// Limits of what a head says.
  public struct Limits: Sendable, Hashable {
    /// The maximum number of recipients.
    public var recipients = 32
    /// The maximum length of a recipient, and of its type, in UTF-8 bytes.
    public var recipientLength = 2048
    /// The maximum size of the inner bundle in bytes.
    public var size: Int64 = 4 << 30

    /// Creates the default limits.
    public init() {}
  }

  /// The recipients, in the order of their stanzas in the age header.
  public var recipients: [Recipient]
  /// The size of the inner bundle in bytes.
  public var size: Int64
  /// The identifier in the manifest of the inner bundle, if it differs from that of the head; otherwise `nil`.
  public var bundle: SnapshotID?
  /// The sealed bundle from which this one was made for other recipients; `nil` if it was sealed by the app.
  public var rewrapped: SnapshotID?
  /// The number of recordings, if the team wanted to show their identifiers; otherwise `nil`.
  public var recordingCount: Int?
  /// The identifiers of the recordings, as in ``SnapshotRecord/identifiers(of:limits:)``, if the team wanted to show them;
  /// otherwise `nil`.
  public var identifiers: [String]?

  /// Creates a description without identifiers.
  public init(
    recipients: [Recipient], size: Int64, bundle: SnapshotID? = nil, rewrapped: SnapshotID? = nil
  ) {
    self.recipients = recipients
    self.size = size
    self.bundle = bundle
    self.rewrapped = rewrapped
  }

  /// The same description without identifiers.
  var withoutIdentifiers: SealedContents {
    var rest = self
    (rest.recordingCount, rest.identifiers) = (nil, nil)
    return rest
  }

  /// The recipients in a few words, such as `age1…, and 2 others`.
  public var summary: String {
    let named = recipients.compactMap(\.recipient)
    guard let first = named.first else {
      return recipients.count == 1 ? "one key" : "\(recipients.count) keys"
    }
    switch recipients.count {
    case 1: return first
    case 2: return named.count == 2 ? "\(first) and \(named[1])" : "\(first), and one other"
    default: return "\(first), and \(recipients.count - 1) others"
    }
  }
}

extension SealedContents {
  /// Reads and checks the member `sealed` of a head. Unknown members are ignored.
  init(json: JSONValue) throws(ManifestProblem) {
    let members = try json.members()
    let recipients = try members.required("recipients").elements(at: "recipients").enumerated()
    var list: [Recipient] = []
    for (index, value) in recipients {
      do {
        let members = try value.members()
        list.append(
          Recipient(
            type: try members.required("type").text(at: "type"),
            recipient: try members["recipient"]?.text(at: "recipient")))
      } catch {
        throw error.below(index).below("recipients")
      }
    }
    guard case .integer(let size) = try members.required("size") else {
      throw ManifestProblem(.mismatch("an integer"), at: "size")
    }
    self.init(
      recipients: list, size: size, bundle: try members.id("bundle"), rewrapped: try members.id("rewrapped"))
    if let count = members["recordingCount"] {
      guard case .integer(let number) = count else {
        throw ManifestProblem(.mismatch("an integer"), at: "recordingCount")
      }
      recordingCount = Int(clamping: number)
    }
    if let values = members["identifiers"] {
      var identifiers: [String] = []
      for value in try values.elements(at: "identifiers") {
        identifiers.append(try value.text(at: "identifiers"))
      }
      self.identifiers = identifiers
    }
    if let problem { throw problem }
  }

  /// What exceeds a limit or is impossible; `nil` if nothing does.
  var problem: ManifestProblem? {
    let limits = Limits()
    guard (1...limits.recipients).contains(recipients.count) else {
      return ManifestProblem(
        .wrong("there are \(recipients.count); a bundle is sealed to 1 to \(limits.recipients)"),
        at: "recipients")
    }
    for (index, recipient) in recipients.enumerated() {
      let length = max(recipient.type.utf8.count, recipient.recipient?.utf8.count ?? 0)
      guard length <= limits.recipientLength else {
        return ManifestProblem(
          .wrong("it has \(length) bytes; the limit is \(limits.recipientLength)"), at: "recipients[\(index)]"
        )
      }
    }
    guard (0...limits.size).contains(size) else {
      return ManifestProblem(.wrong("it must be from 0 to \(limits.size)"), at: "size")
    }
    guard (0...Manifest.Limits.default.recordings).contains(recordingCount ?? 0) else {
      return ManifestProblem(
        .wrong("it must be from 0 to \(Manifest.Limits.default.recordings)"), at: "recordingCount")
    }
    let most = SnapshotRecord.IdentifierLimits()
    let identifiers = identifiers ?? []
    guard identifiers.count <= most.count, identifiers.reduce(0, { $0 + $1.utf8.count }) <= most.bytes else {
      return ManifestProblem(
        .wrong("there are more than \(most.count), or more than \(most.bytes) bytes"), at: "identifiers")
    }
    return nil
  }
}

extension JSONValue {
  fileprivate func members() throws(ManifestProblem) -> [String: JSONValue] {
    guard case .object(let members) = self else { throw ManifestProblem(.mismatch("an object")) }
    return members
  }

  fileprivate func elements(at key: String) throws(ManifestProblem) -> [JSONValue] {
    guard case .array(let elements) = self else { throw ManifestProblem(.mismatch("an array"), at: key) }
    return elements
  }

  fileprivate func text(at key: String) throws(ManifestProblem) -> String {
    guard case .string(let text) = self else { throw ManifestProblem(.mismatch("a string"), at: key) }
    return text
  }
}

extension [String: JSONValue] {
  fileprivate func required(_ key: String) throws(ManifestProblem) -> JSONValue {
    guard let value = self[key] else { throw ManifestProblem(.missing, at: key) }
    return value
  }

  fileprivate func id(_ key: String) throws(ManifestProblem) -> SnapshotID? {
    guard let value = self[key] else { return nil }
    guard case .string(let text) = value, let id = SnapshotID(text) else {
      throw ManifestProblem(.wrong("it is not a UUID"), at: key)
    }
    return id
  }
}
