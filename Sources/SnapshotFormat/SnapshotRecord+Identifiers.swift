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
    var seen: Set<String> = []
    var identifiers: [String] = []
    var bytes = 0
    for recording in manifest.recordings {
      guard identifiers.count < limits.count else { break }
      let length = recording.identifier.utf8.count
      guard bytes + length <= limits.bytes, seen.insert(recording.identifier).inserted else { continue }
      identifiers.append(recording.identifier)
      bytes += length
    }
    return identifiers
  }
}
