/// The rows of a `COPY`, in PostgreSQL's binary format. The fields of a row have exactly the types of their columns.
package struct PostgreSQLCopy {
  private let send: ([UInt8]) throws(PostgreSQLError) -> Void
  private var bytes: [UInt8]

  init(_ send: @escaping ([UInt8]) throws(PostgreSQLError) -> Void) {
    self.send = send
    // The signature, and the lengths of no flags and no extension.
    bytes = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + [UInt8](repeating: 0, count: 8)
    bytes.reserveCapacity(PostgreSQLLimits.copyBytes * 2)
  }

  /// Begins a row with `count` fields.
  package mutating func beginRow(_ count: Int) throws(PostgreSQLError) {
    if bytes.count >= PostgreSQLLimits.copyBytes {
      try send(bytes)
      bytes.removeAll(keepingCapacity: true)
    }
    bytes.append(bigEndian: Int16(count))
  }

  /// Appends a `bigint`.
  package mutating func append(_ value: Int64) {
    bytes.append(bigEndian: Int32(8))
    bytes.append(bigEndian: value)
  }

  /// Appends a `smallint`.
  package mutating func append(_ value: Int16) {
    bytes.append(bigEndian: Int32(2))
    bytes.append(bigEndian: value)
  }

  /// Appends a `bytea`, or a `text` in UTF-8.
  package mutating func append(_ value: some Collection<UInt8>) {
    bytes.append(bigEndian: Int32(value.count))
    bytes.append(contentsOf: value)
  }

  /// Appends null.
  package mutating func appendNull() { bytes.append(bigEndian: Int32(-1)) }

  mutating func finish() throws(PostgreSQLError) {
    bytes.append(bigEndian: Int16(-1))
    try send(bytes)
  }
}
