package import Foundation
package import SnapshotFormat
package import SnapshotStore
import SystemIO

/// The rows of resumable uploads in memory, for several stores of one process.
package final class InMemoryUploadRows: UploadRows {
  private struct Entry {
    var row: UploadRow
    var epoch: Int64 = 0
    var holder: SnapshotID?
    var leaseEnd = Date.distantPast
  }

  /// The clock that leases are measured with.
  private let now: @Sendable () -> Date
  private let entries = Lock<[UploadID: Entry]>([:])
  private let fault = Lock<(@Sendable (Call) -> Fault?)?>(nil)

  /// A call that changes rows.
  package enum Call: Sendable, Hashable { case create, take, renew, update, remove }

  /// What happens to a call instead of its normal result.
  package enum Fault: Sendable, Hashable, CaseIterable {
    /// The call throws, and changes nothing.
    case refused
    /// The call throws, and has changed the row.
    case failedAfterwards
  }

  /// Creates an empty table.
  package init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

  /// Sets the function that selects faults; `nil` removes it.
  package func inject(_ fault: (@Sendable (Call) -> Fault?)?) { self.fault.withLock { $0 = fault } }

  package func create(_ row: UploadRow, limits: UploadLimits) async throws(UploadError) {
    let fault = fault.withLock { $0?(.create) }
    if fault == .refused { throw .store(.injected) }
    try entries.withLock { entries throws(UploadError) in
      let sessions = entries.values.map(\.row.session)
      try limits.requireRoom(for: row.session.terms, among: sessions)
      for id in limits.forgotten(among: sessions) { entries[id] = nil }
      entries[row.session.id] = Entry(row: row)
    }
    if fault == .failedAfterwards { throw .store(.injected) }
  }

  package func session(_ id: UploadID) async throws(StoreError) -> UploadSession? {
    try await row(id)?.session
  }

  package func row(_ id: UploadID) async throws(StoreError) -> UploadRow? {
    entries.withLock { $0[id]?.row }
  }

  package func rows() async throws(StoreError) -> [UploadRow] {
    entries.withLock { entries in entries.values.map { UploadRow($0.row.session, $0.row.object) } }
  }

  package func take(
    _ id: UploadID, by holder: SnapshotID, for duration: Duration
  ) async throws(StoreError) -> UploadTake {
    try change(.take) { entries in
      guard var entry = entries[id] else { return .unknown }
      let now = now()
      if entry.leaseEnd > now, entry.holder != holder {
        return .held(for: .seconds(entry.leaseEnd.timeIntervalSince(now)))
      }
      entry.epoch += 1
      entry.holder = holder
      entry.leaseEnd = now + duration / .seconds(1)
      entries[id] = entry
      return .taken(entry.row, UploadLease(upload: id, epoch: entry.epoch))
    }
  }

  package func renew(_ lease: UploadLease, for duration: Duration) async throws(StoreError) -> Bool {
    try change(.renew) { entries in
      guard entries[lease.upload]?.epoch == lease.epoch else { return false }
      entries[lease.upload]?.leaseEnd = now() + duration / .seconds(1)
      return true
    }
  }

  package func update(
    _ row: UploadRow, under lease: UploadLease, for duration: Duration
  ) async throws(StoreError) -> Bool {
    try change(.update) { entries in
      guard entries[lease.upload]?.epoch == lease.epoch else { return false }
      entries[lease.upload]?.row = row
      entries[lease.upload]?.leaseEnd = now() + duration / .seconds(1)
      return true
    }
  }

  package func remove(under lease: UploadLease) async throws(StoreError) -> Bool {
    try change(.remove) { entries in
      guard entries[lease.upload]?.epoch == lease.epoch else { return false }
      entries[lease.upload] = nil
      return true
    }
  }

  private func change<Value>(
    _ call: Call, _ body: (inout [UploadID: Entry]) -> Value
  ) throws(StoreError) -> Value {
    let fault = fault.withLock { $0?(call) }
    if fault == .refused { throw .injected }
    let value = entries.withLock { body(&$0) }
    if fault == .failedAfterwards { throw .injected }
    return value
  }
}

extension StoreError {
  fileprivate static let injected = StoreError.unavailable("for the test")
}
