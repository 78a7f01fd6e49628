import Foundation
package import PostgreSQLClient
package import SnapshotFormat
package import SnapshotStore

/// The rows of resumable uploads in a PostgreSQL database.
///
/// A row is changed by one statement, which also checks the number of the lease. So a server that was asleep for longer
/// than its lease changes nothing, whatever else is executed at the same time.
package final class PostgreSQLUploadRows: UploadRows {
  private static let schema = Schemas.uploads.schema
  /// Held while an upload is created, so that the limits are kept.
  private static let creation = PostgreSQLLockKey("uploads.creation")

  private let pool: PostgreSQLPool

  /// Connects to the database, and creates the table if it is missing.
  ///
  /// If the database does not answer, a call fails within four seconds, and further ones at once.
  /// - Parameter other: a pool for the same database. If it fails, calls fail at once, too.
  package static func open(
    _ configuration: PostgreSQLConfiguration, failingWith other: PostgreSQLPool? = nil
  ) async throws(StoreError) -> PostgreSQLUploadRows {
    let rows = PostgreSQLUploadRows(configuration.required, other)
    try await rows.perform { try Schemas.uploads.apply($0) }
    return rows
  }

  private init(_ configuration: PostgreSQLConfiguration, _ other: PostgreSQLPool?) {
    var configuration = configuration
    configuration.session = "SET search_path = \(Self.schema), public"
    pool = PostgreSQLPool(configuration, failingWith: other)
  }

  /// Closes the connections. Don't call any other method afterwards.
  package func close() { pool.close() }

  package func create(_ row: UploadRow, limits: UploadLimits) async throws(UploadError) {
    do {
      try await pool.transaction { connection in
        try connection.lock(Self.creation)
        let sessions = try connection.query("SELECT document FROM upload").map {
          try UploadDocument($0).row([]).session
        }
        try limits.requireRoom(for: row.session.terms, among: sessions)
        _ = try connection.query(
          "DELETE FROM upload WHERE id = ANY($1)",
          [.texts(limits.forgotten(among: sessions).map(\.description))])
        _ = try connection.query(
          "INSERT INTO upload (id, document, tail) VALUES ($1, $2, $3)",
          [.text(row.session.id.description), .bytes(UploadDocument(row).bytes), .bytes(row.tail)])
      }
    } catch let error as UploadError {
      throw error
    } catch {
      throw .store(.unavailable("\(error)"))
    }
  }

  package func session(_ id: UploadID) async throws(StoreError) -> UploadSession? {
    try await perform { connection in
      try connection.query("SELECT document FROM upload WHERE id = $1", [.text(id.description)])
        .first.map { try UploadDocument($0).row([]).session }
    }
  }

  package func row(_ id: UploadID) async throws(StoreError) -> UploadRow? {
    try await perform { connection in
      try connection.query("SELECT document, tail FROM upload WHERE id = $1", [.text(id.description)])
        .first.map { try UploadDocument($0).row($0.bytes(1)) }
    }
  }

  package func rows() async throws(StoreError) -> [UploadRow] {
    try await perform { connection in
      try connection.query("SELECT document FROM upload").map { try UploadDocument($0).row([]) }
    }
  }

  package func take(
    _ id: UploadID, by holder: SnapshotID, for duration: Duration
  ) async throws(StoreError) -> UploadTake {
    try await perform { connection in
      let taken = try connection.query(
        """
        UPDATE upload SET epoch = epoch + 1, holder = $2, lease_end = \(Self.end("$3"))
        WHERE id = $1 AND (lease_end <= clock_timestamp() OR holder = $2) RETURNING document, tail, epoch
        """, [.text(id.description), .bytes(Array(holder.bytes)), .int(duration.microseconds)])
      if let row = taken.first {
        let lease = UploadLease(upload: id, epoch: try row.int(2))
        return .taken(try UploadDocument(row).row(row.bytes(1)), lease)
      }
      let rest = try connection.query(
        """
        SELECT greatest(0, extract(epoch FROM lease_end - clock_timestamp()) * 1000000)::bigint FROM upload
        WHERE id = $1
        """, [.text(id.description)])
      return try rest.first.map { .held(for: .microseconds(try $0.int(0))) } ?? .unknown
    }
  }

  package func renew(_ lease: UploadLease, for duration: Duration) async throws(StoreError) -> Bool {
    try await change(
      "UPDATE upload SET lease_end = \(Self.end("$3")) WHERE id = $1 AND epoch = $2", lease,
      [.int(duration.microseconds)])
  }

  package func update(
    _ row: UploadRow, under lease: UploadLease, for duration: Duration
  ) async throws(StoreError) -> Bool {
    guard row.session.id == lease.upload else { return false }
    let document: [UInt8]
    do { document = try UploadDocument(row).bytes } catch { throw .unavailable("\(error)") }
    return try await change(
      """
      UPDATE upload SET lease_end = \(Self.end("$3")), document = $4, tail = $5 WHERE id = $1 AND epoch = $2
      """, lease, [.int(duration.microseconds), .bytes(document), .bytes(row.tail)])
  }

  package func remove(under lease: UploadLease) async throws(StoreError) -> Bool {
    try await change("DELETE FROM upload WHERE id = $1 AND epoch = $2", lease, [])
  }

  /// The time that is a number of microseconds after now.
  private static func end(_ parameter: String) -> String {
    "clock_timestamp() + \(parameter) * interval '1 microsecond'"
  }

  /// Executes a statement that changes the row with an id and a number of the lease.
  /// - Returns: whether there is such a row.
  private func change(
    _ sql: String, _ lease: UploadLease, _ parameters: [PostgreSQLValue]
  ) async throws(StoreError) -> Bool {
    try await perform { connection in
      let key: [PostgreSQLValue] = [.text(lease.upload.description), .int(lease.epoch)]
      return try connection.query(sql, key + parameters).changes == 1
    }
  }

  private func perform<Value: Sendable>(
    _ body: @escaping @Sendable (PostgreSQLConnection) throws -> Value
  ) async throws(StoreError) -> Value {
    do { return try await pool.perform(body) } catch { throw .unavailable("\(error)") }
  }
}

/// A row without its tail, as JSON.
private struct UploadDocument: Codable {
  let id: UploadID
  let terms: UploadTerms
  let createdAt: Date
  let progress: UploadSession.Progress
  let object: UploadObject

  init(_ row: UploadRow) {
    (id, terms, createdAt) = (row.session.id, row.session.terms, row.session.createdAt)
    (progress, object) = (row.session.progress, row.object)
  }

  /// Decodes the first column of a row.
  init(_ row: PostgreSQLResult.Row) throws {
    self = try SnapshotJSON.decode(UploadDocument.self, from: Data(row.bytes(0)))
  }

  var bytes: [UInt8] {
    get throws { Array(try SnapshotJSON.encode(self)) }
  }

  func row(_ tail: [UInt8]) -> UploadRow {
    UploadRow(UploadSession(id, terms, createdAt: createdAt, progress: progress), object, tail: tail)
  }
}
