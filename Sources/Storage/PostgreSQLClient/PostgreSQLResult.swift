import CPostgreSQL

/// The rows that a statement returned, or the number of rows that it changed.
package struct PostgreSQLResult {
  private let storage: Storage

  /// Takes ownership of `pointer`.
  init(owning pointer: OpaquePointer) { storage = Storage(pointer) }

  /// The number of rows that were inserted, updated, deleted or returned.
  package var changes: Int {
    PQcmdTuples(storage.pointer).flatMap { Int(String(cString: $0)) } ?? 0
  }

  /// The name of the executed command, such as `COMMIT`.
  var command: String { PQcmdStatus(storage.pointer).map { String(cString: $0) } ?? "" }

  fileprivate final class Storage {
    let pointer: OpaquePointer
    init(_ pointer: OpaquePointer) { self.pointer = pointer }
    deinit { PQclear(pointer) }
  }
}

extension PostgreSQLResult: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { Int(PQntuples(storage.pointer)) }
  /// The row with the given index.
  package subscript(index: Int) -> Row {
    precondition(indices.contains(index))
    return Row(storage: storage, index: Int32(index))
  }

  /// A row of a result. Its fields are read by their positions, from 0.
  package struct Row {
    fileprivate let storage: Storage
    fileprivate let index: Int32

    /// Whether the field is null.
    package func isNull(_ column: Int) -> Bool { PQgetisnull(storage.pointer, index, Int32(column)) == 1 }

    /// The value of a `boolean`.
    package func bool(_ column: Int) throws(PostgreSQLError) -> Bool { try int(column) != 0 }

    /// The value of a `boolean`, `smallint`, `integer` or `bigint`.
    package func int(_ column: Int) throws(PostgreSQLError) -> Int64 {
      let field = try field(column)
      guard [1, 2, 4, 8].contains(field.count) else {
        throw .unexpectedResult("Column \(column) is no integer.")
      }
      var value: Int64 = 0
      for byte in field { value = value << 8 | Int64(byte) }
      // The sign of a shorter integer.
      let unused = 64 - 8 * field.count
      return (value << unused) >> unused
    }

    /// The value of a `text`.
    package func text(_ column: Int) throws(PostgreSQLError) -> String {
      guard let text = String(validating: try field(column), as: UTF8.self) else {
        throw .unexpectedResult("Column \(column) is no UTF-8.")
      }
      return text
    }

    /// The value of a `bytea`.
    package func bytes(_ column: Int) throws(PostgreSQLError) -> [UInt8] { Array(try field(column)) }

    /// The bytes of a field, which are valid while the result exists.
    private func field(_ column: Int) throws(PostgreSQLError) -> UnsafeBufferPointer<UInt8> {
      guard column >= 0, column < Int(PQnfields(storage.pointer)), !isNull(column),
        let start = PQgetvalue(storage.pointer, index, Int32(column))
      else { throw .unexpectedResult("There is no value in column \(column).") }
      let count = Int(PQgetlength(storage.pointer, index, Int32(column)))
      return UnsafeBufferPointer(
        start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: count)
    }
  }
}
