/// Decides which of the servers that share a storage maintains it: deletes what expired, verifies the bundles, and sweeps.
///
/// It saves work and no guarantee depends on it: for a moment, two servers can maintain a storage.
package protocol MaintenanceLock: Sendable {
  /// Waits until no other server holds the lock, and runs `work` while this server holds it. Returns when `work` has
  /// returned. If the calling task is cancelled, `work` is cancelled too, or not begun.
  ///
  /// If the lock is lost, `work` is cancelled, and after its end this waits for the lock and runs `work` again. One server
  /// calls this once at a time.
  func whileHeld(_ work: @escaping @Sendable () async -> Void) async
}

/// The lock of a storage that one server uses.
package struct SoleServer: MaintenanceLock {
  /// Creates the lock.
  package init() {}

  /// Runs `work`.
  package func whileHeld(_ work: @escaping @Sendable () async -> Void) async { await work() }
}
