import Foundation
package import SnapshotFormat

/// A link with which people without a token can attach snapshots to one report, and see nothing else.
///
/// A link is a token of its own kind: it has an id, a secret, an expiry date and a file in the storage, and can be revoked
/// in the same way. It is valid only while the token that made it is valid. The file also has the uses of the link, so
/// that they are counted across restarts, and by all servers that share their snapshots.
package struct AttachLink: Sendable, Hashable, Codable {
  /// A snapshot that was attached with a link, or is being attached.
  package struct Use: Sendable, Hashable, Codable {
    /// Identifies the use in its link.
    let key: UUID
    /// The snapshot; `nil` if its UUID is not known until it is published.
    var snapshot: SnapshotID?
    /// The length of the bundle in bytes.
    let bytes: Int64
  }

  /// The limits of links.
  package enum Limits {
    /// The allowed lifetimes in seconds: up to 90 days.
    package static let lifetimes = 1...7_776_000
    /// The lifetime if none is stated: 7 days.
    package static let lifetime = 604_800
    /// The allowed numbers of snapshots.
    package static let counts = 1...100
    /// The number of snapshots if none is stated.
    package static let count = 5
    /// The allowed numbers of bytes of all snapshots together: up to 1 TB.
    package static let bytes: ClosedRange<Int64> = 1...1_000_000_000_000
    /// The number of bytes if none is stated: 500 MB.
    package static let size: Int64 = 500_000_000
    /// The maximum number of valid links to one report.
    package static let perReport = 20
  }

  /// The only report to which the link can attach.
  package let report: ReportID
  /// The number of snapshots that can be attached.
  package let count: Int
  /// The number of bytes that these can have together.
  package let bytes: Int64
  /// The id of the token that made the link.
  package let maker: String
  /// The snapshots that were attached, or are being attached.
  package internal(set) var uses: [Use] = []

  /// Creates a link without uses. Returns `nil` if a number is outside of ``Limits``.
  package init?(report: ReportID, count: Int, bytes: Int64, maker: String) {
    guard Limits.counts.contains(count), Limits.bytes.contains(bytes) else { return nil }
    (self.report, self.count, self.bytes, self.maker) = (report, count, bytes, maker)
  }

  /// The number of bytes that were attached.
  package var usedBytes: Int64 {
    // The sum is at most ``bytes``, unless the file was edited.
    uses.reduce(0) { sum, use in
      let (sum, overflow) = sum.addingReportingOverflow(use.bytes)
      return overflow ? .max : sum
    }
  }

  /// The number of snapshots that can still be attached.
  package var remainingCount: Int { max(count - uses.count, 0) }

  /// The number of bytes that can still be attached.
  package var remainingBytes: Int64 { max(bytes - usedBytes, 0) }

  /// The use for the snapshot with this UUID, which is not counted again.
  func use(for snapshot: SnapshotID?) -> Use? {
    guard let snapshot else { return nil }
    return uses.first { $0.snapshot == snapshot }
  }

  /// The reason why a bundle can't be attached; `nil` if it can.
  /// - Parameter bytes: the length of the bundle; `nil` if it is not known yet.
  func refusal(of bytes: Int64?, as snapshot: SnapshotID?) -> Refusal? {
    let room: Int64
    if let use = use(for: snapshot) {
      room = use.bytes
    } else {
      guard remainingCount > 0 else { return .count(count) }
      room = remainingBytes
    }
    return bytes ?? 1 <= room ? nil : .bytes(remaining: room, of: self.bytes)
  }

  /// The reason why a link can't be used for a bundle.
  enum Refusal: Error, Sendable, Hashable {
    /// All snapshots were attached.
    case count(Int)
    /// The bundle is larger than what remains.
    case bytes(remaining: Int64, of: Int64)
  }
}

extension TokenStore {
  /// Counts a bundle against the link `id`, before it is published.
  /// - Returns: the key of the use; `nil` if the link was used for the same snapshot before.
  func beginUse(
    of id: String, _ bytes: Int64, as snapshot: SnapshotID?
  ) throws(TokenStoreError) -> Result<UUID?, AttachLink.Refusal> {
    try changeLink(id) { link in
      if let refusal = link.refusal(of: bytes, as: snapshot) { return .failure(refusal) }
      if link.use(for: snapshot) != nil { return .success(nil) }
      let use = AttachLink.Use(key: UUID(), snapshot: snapshot, bytes: bytes)
      link.uses.append(use)
      return .success(use.key)
    }
  }

  /// Ends a use of the link `id`.
  /// - Parameter snapshot: the snapshot that was published; `nil` removes the use, because nothing was stored.
  func endUse(_ key: UUID, of id: String, as snapshot: SnapshotID?) throws(TokenStoreError) {
    try changeLink(id) { link in
      guard let index = link.uses.firstIndex(where: { $0.key == key }) else { return }
      guard let snapshot else {
        link.uses.remove(at: index)
        return
      }
      link.uses[index].snapshot = snapshot
    }
  }
}
