public import SnapshotFormat

extension Catalog {
  /// Brings what the catalogue says of a snapshot in line with `store`, whatever else is changed of it meanwhile.
  ///
  /// Calls about one record may reach a catalogue in another order than they reached the store. So the record is
  /// looked at once more after it was inserted: whoever inserts last has inserted what is so.
  /// - Parameter record: the record as it was a moment ago.
  public func refresh(_ record: SnapshotRecord, from store: any BundleStore) async throws {
    var record = record
    while true {
      try await insert(record)
      do {
        let current = try await store.record(record.id)
        if current == record { return }
        record = current
      } catch .deleted {
        try await remove(record.id)
        return
      }
    }
  }
}
