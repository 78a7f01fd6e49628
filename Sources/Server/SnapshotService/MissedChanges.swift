import SnapshotFormat

/// The snapshots whose changes a catalogue has missed.
struct MissedChanges: Sendable {
  /// The maximum number of snapshots. Beyond, all records are compared with the catalogue.
  static let limit = 100_000

  private(set) var ids: Set<SnapshotID> = []
  /// Whether there are more than ``ids``.
  private(set) var isCut = false

  var isEmpty: Bool { ids.isEmpty && !isCut }

  mutating func insert(_ more: some Sequence<SnapshotID>) {
    for id in more {
      if ids.count < Self.limit { ids.insert(id) } else if !ids.contains(id) { isCut = true }
    }
  }

  mutating func formUnion(_ other: MissedChanges) {
    insert(other.ids)
    isCut = isCut || other.isCut
  }

  /// Returns the changes, and forgets them.
  mutating func take() -> MissedChanges {
    defer { self = MissedChanges() }
    return self
  }
}
