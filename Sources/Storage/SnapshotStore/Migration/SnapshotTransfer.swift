import SnapshotFormat
import SystemIO

/// Decides what the target of a migration needs of one snapshot, and copies that.
struct SnapshotTransfer: Sendable {
  /// What was done for one UUID.
  enum Outcome: Sendable, Hashable {
    /// The target has what it had before: nothing, or a tombstone.
    case nothing
    /// The deletion was copied.
    case deleted
    /// The target has the bundle of this size.
    case bundle(size: Int64, Change)
    /// The target has the bundle of this size, and the source does not have it intact.
    case kept(size: Int64, Change)
    /// The source does not have the snapshot intact, and neither does the target.
    case lost(TransferReport.Problem.Kind)

    var changesTarget: Bool {
      switch self {
      case .nothing, .lost: false
      case .deleted: true
      case .bundle(_, let change), .kept(_, let change): change != .none
      }
    }
  }

  enum Change: Sendable, Hashable {
    case none, copied, changedRecord
  }

  let source: any MigrationSource
  let target: any MigrationTarget
  /// Whether the bundles that the target has already are read and verified.
  let verifies: Bool

  /// Makes the target agree with the source.
  /// - Parameters:
  ///   - found: what the source has, by its list.
  ///   - present: what the target has, by its list.
  func copy(
    _ id: SnapshotID, found: SnapshotPresence?, present: SnapshotPresence?
  ) async throws(TransferError) -> Outcome {
    switch found {
    case .deleted: return try await delete(id, present)
    case nil: return try await keep(id, present, or: .missing)
    case .published: break
    }
    switch try await source.state(of: id) {
    // It was deleted since the list was made.
    case .deleted: return try await delete(id, present)
    case nil, .lost: return try await keep(id, present, or: .missing)
    case .unreadable: return try await keep(id, present, or: .damaged)
    case .published(let record): return try await copy(record, present)
    }
  }

  private func copy(
    _ record: SnapshotRecord, _ present: SnapshotPresence?
  ) async throws(TransferError) -> Outcome {
    if let copy = try await usableCopy(record.id, present), copy.sha256 == record.sha256 {
      // The source has set its bundle aside, and the target has it intact.
      let isBetter = record.verified == .damaged && copy.verified != .damaged
      let isRepaired = record.verified != .damaged && copy.verified == .damaged
      if !isRepaired {
        let wanted = isBetter ? record.marked(copy.verified) : record
        if wanted != copy { try await target.replaceRecord(with: wanted) }
        let change = wanted == copy ? Change.none : .changedRecord
        return isBetter ? .kept(size: record.size, change) : .bundle(size: record.size, change)
      }
    }
    guard let bundle = try await source.bundle(of: record.id) else {
      // The bytes of a deleted snapshot are gone.
      if case .deleted = try await source.state(of: record.id) {
        return try await delete(record.id, present)
      }
      return try await keep(record.id, present, or: .missing)
    }
    guard try await target.publish(record, bundle) else {
      return try await keep(record.id, present, or: .damaged)
    }
    return .bundle(size: record.size, .copied)
  }

  private func delete(
    _ id: SnapshotID, _ present: SnapshotPresence?
  ) async throws(TransferError) -> Outcome {
    if present == .deleted { return .nothing }
    try await target.delete(id)
    return .deleted
  }

  /// Leaves the target as it is, for a snapshot that the source does not have intact.
  private func keep(
    _ id: SnapshotID, _ present: SnapshotPresence?, or problem: TransferReport.Problem.Kind
  ) async throws(TransferError) -> Outcome {
    if present == .deleted { return .nothing }
    guard let copy = try await usableCopy(id, present), copy.verified != .damaged else {
      return .lost(problem)
    }
    return .kept(size: copy.size, .none)
  }

  /// The record of the target's bundle, if its bytes are those that were copied.
  private func usableCopy(
    _ id: SnapshotID, _ present: SnapshotPresence?
  ) async throws(TransferError) -> SnapshotRecord? {
    guard present == .published, let record = try await target.contents.state(of: id)?.record else {
      return nil
    }
    guard verifies, record.verified != .damaged else { return record }
    guard let bundle = try await target.contents.bundle(of: id) else { return nil }
    let file: (size: Int64, sha256: ContentDigest)
    do { file = try await bundle.measure() } catch { throw .system(error) }
    return file == (record.size, record.sha256) ? record : nil
  }
}
