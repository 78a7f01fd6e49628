/// The key of an advisory lock.
package struct PostgreSQLLockKey: Sendable, Hashable {
  let number: Int64

  /// Creates the key of a name: its FNV-1a hash, so that all servers and versions compute the same.
  package init(_ name: String) {
    let hash = name.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    number = Int64(bitPattern: hash)
  }
}

extension PostgreSQLConnection {
  /// Waits for an advisory lock, which is held until the transaction ends.
  package func lock(_ key: PostgreSQLLockKey) throws(PostgreSQLError) {
    _ = try query("SELECT pg_advisory_xact_lock($1)", [.int(key.number)])
  }

  /// Waits for an advisory lock that several transactions can hold while none holds it alone.
  package func lockShared(_ key: PostgreSQLLockKey) throws(PostgreSQLError) {
    _ = try query("SELECT pg_advisory_xact_lock_shared($1)", [.int(key.number)])
  }

  /// Takes an advisory lock until the transaction ends, if no one holds it.
  /// - Returns: whether the lock was taken.
  package func tryLock(_ key: PostgreSQLLockKey) throws(PostgreSQLError) -> Bool {
    try query("SELECT pg_try_advisory_xact_lock($1)", [.int(key.number)])[0].bool(0)
  }

  /// Takes an advisory lock until the connection ends, if no one else holds it.
  /// - Returns: whether the lock was taken.
  package func trySessionLock(_ key: PostgreSQLLockKey) throws(PostgreSQLError) -> Bool {
    try query("SELECT pg_try_advisory_lock($1)", [.int(key.number)])[0].bool(0)
  }

  /// Releases an advisory lock that the connection holds.
  package func sessionUnlock(_ key: PostgreSQLLockKey) throws(PostgreSQLError) {
    _ = try query("SELECT pg_advisory_unlock($1)", [.int(key.number)])
  }
}
