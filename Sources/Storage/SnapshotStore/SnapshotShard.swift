public import SnapshotFormat

/// One of 256 parts of a store: the snapshots whose ids begin with the same two hexadecimal digits.
public struct SnapshotShard: Sendable, Hashable, CaseIterable {
  /// The first byte of the ids, 0 to 255.
  public let firstByte: UInt8

  /// Creates the shard that `id` belongs to.
  public init(of id: SnapshotID) { firstByte = id.bytes[0] }

  private init(_ firstByte: UInt8) { self.firstByte = firstByte }

  /// All shards, in ascending order.
  public static let allCases = (UInt8.min...UInt8.max).map { SnapshotShard($0) }

  /// The two hexadecimal digits, in lower case.
  public var digits: String { (firstByte < 16 ? "0" : "") + String(firstByte, radix: 16) }
}
