extension SnapshotRecord {
  /// How much of a bundle's recorded identifiers its record repeats, so that they can be searched for.
  public struct IdentifierLimits: Sendable, Hashable {
    /// The most identifiers.
    public var count = 1000
    /// The most bytes of their text in all, in UTF-8.
    public var bytes = 32 << 10

    /// The limits above.
    public init() {}
  }

  /// The distinct identifiers of `manifest`'s recordings, in its order, as far as `limits` allow: one that is too long
  /// for what is left is passed over.
  public static func identifiers(
    of manifest: Manifest, limits: IdentifierLimits = IdentifierLimits()
  ) -> [String] {
    var selection = IdentifierSelection(limits)
    for recording in manifest.recordings { selection.append(recording.identifier) }
    return selection.identifiers
  }
}

/// The first of the distinct identifiers that come by, as far as the limits allow.
struct IdentifierSelection {
  private(set) var identifiers: [String] = []

  private let limits: SnapshotRecord.IdentifierLimits
  private var seen: Set<String> = []
  private var bytes = 0

  init(_ limits: SnapshotRecord.IdentifierLimits = SnapshotRecord.IdentifierLimits()) { self.limits = limits }

  mutating func append(_ identifier: String) {
    let length = identifier.utf8.count
    guard identifiers.count < limits.count, bytes + length <= limits.bytes, seen.insert(identifier).inserted
    else { return }
    identifiers.append(identifier)
    bytes += length
  }
}
