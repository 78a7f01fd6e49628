import SnapshotFormat
import SnapshotStore

/// Takes the leases of uploads for one server.
struct UploadLeases: Sendable {
  let rows: any UploadRows
  /// Names the server until it ends.
  let holder = SnapshotID()
  /// How long a lease lasts unless it is renewed, and how long to wait for the end of another server's.
  let duration: Duration
  let sleep: @Sendable (Duration) async throws -> Void

  /// An upload, and the right to change it.
  struct Held: Sendable {
    var row: UploadRow
    let lease: UploadLease
  }

  /// Takes the lease of an upload, and waits if another server has it. That server renews its lease only while bytes
  /// arrive. Throws ``UploadError/unknown``, or ``UploadError/store(_:)`` if the other server keeps it.
  func take(_ id: UploadID) async throws(UploadError) -> Held {
    var waited = Duration.zero
    while true {
      let take = try await UploadError.storing { () async throws(StoreError) in
        try await rows.take(id, by: holder, for: duration)
      }
      switch take {
      case .taken(let row, let lease): return Held(row: row, lease: lease)
      case .unknown: throw .unknown
      case .held(let rest):
        guard waited < duration else {
          throw .store(.unavailable("Another server receives bytes of the upload \(id.abbreviation)."))
        }
        let pause = max(min(rest, S3StoreLimits.takeoverPause), .milliseconds(1))
        do { try await sleep(pause) } catch { throw .store(.unavailable("The request was cancelled.")) }
        waited += pause
      }
    }
  }

  /// Renews a lease. Throws ``UploadError/superseded`` if another server has taken over.
  func renew(_ lease: UploadLease) async throws(UploadError) {
    let isLatest = try await UploadError.storing { () async throws(StoreError) in
      try await rows.renew(lease, for: duration)
    }
    guard isLatest else { throw .superseded }
  }

  /// Replaces a row. Throws ``UploadError/superseded`` if another server has taken over.
  /// - Parameter isLast: whether to end the lease.
  func save(
    _ row: UploadRow, under lease: UploadLease, isLast: Bool = false
  ) async throws(UploadError) {
    let isLatest = try await UploadError.storing { () async throws(StoreError) in
      try await rows.update(row, under: lease, for: isLast ? .zero : duration)
    }
    guard isLatest else { throw .superseded }
  }

  /// Runs `body`, which can take long, and renews the lease meanwhile.
  func renewing<Value>(
    _ lease: UploadLease, _ body: () async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    let renewal = Task {
      while true {
        do { try await Task.sleep(for: max(duration / 3, S3StoreLimits.shortestRenewal)) } catch { return }
        // If the lease is lost, the next write fails.
        do throws(StoreError) { _ = try await rows.renew(lease, for: duration) } catch {}
      }
    }
    do {
      let value = try await body()
      await Self.end(renewal)
      return value
    } catch {
      await Self.end(renewal)
      throw error
    }
  }

  /// Ends the renewal, and waits, because a late one would prolong a lease that was ended.
  private static func end(_ renewal: Task<Void, Never>) async {
    renewal.cancel()
    await renewal.value
  }

  /// Ends a lease. If this fails, the lease ends with its time.
  func end(_ lease: UploadLease) async {
    do throws(StoreError) { _ = try await rows.renew(lease, for: .zero) } catch {}
  }
}
