/// A parameter of a statement. Each case has one type of PostgreSQL, and is sent in its binary form.
package enum PostgreSQLValue: Sendable, Hashable {
  case null
  /// `boolean`
  case bool(Bool)
  /// `bigint`
  case int(Int64)
  /// `text`. It must not contain U+0000, which PostgreSQL rejects.
  case text(String)
  /// `bytea`
  case bytes([UInt8])
  /// `bigint[]`
  case ints([Int64])
  /// `text[]`
  case texts([String])
  /// `bytea[]`
  case byteArrays([[UInt8]])

  /// The object id of the type; 0 lets the server infer it.
  var type: UInt32 {
    switch self {
    case .null: 0
    case .bool: 16
    case .int: 20
    case .text: 25
    case .bytes: 17
    case .ints: 1016
    case .texts: 1009
    case .byteArrays: 1001
    }
  }

  /// The binary form; `nil` for null.
  var encoded: [UInt8]? {
    var bytes: [UInt8] = []
    switch self {
    case .null: return nil
    case .bool(let value): bytes.append(value ? 1 : 0)
    case .int(let value): bytes.append(bigEndian: value)
    case .text(let value): bytes += value.utf8
    case .bytes(let value): return value
    case .ints(let values):
      bytes.reserveCapacity(20 + values.count * 12)
      bytes.appendArray(of: 20, values) { $0.append(bigEndian: $1) }
    case .texts(let values): bytes.appendArray(of: 25, values) { $0.append(contentsOf: $1.utf8) }
    case .byteArrays(let values): bytes.appendArray(of: 17, values) { $0.append(contentsOf: $1) }
    }
    return bytes
  }
}

extension [UInt8] {
  /// Appends an integer in network byte order.
  mutating func append(bigEndian value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }

  /// Appends the binary form of an array with one dimension and without null.
  fileprivate mutating func appendArray<Value>(
    of type: Int32, _ values: [Value], _ encode: (inout [UInt8], Value) -> Void
  ) {
    append(bigEndian: Int32(values.isEmpty ? 0 : 1))
    append(bigEndian: Int32(0))
    append(bigEndian: type)
    guard !values.isEmpty else { return }
    append(bigEndian: Int32(values.count))
    append(bigEndian: Int32(1))
    for value in values { appendField { encode(&$0, value) } }
  }

  /// Appends the length of what `encode` appends, as four bytes, and then that.
  mutating func appendField(_ encode: (inout [UInt8]) -> Void) {
    let start = count
    append(bigEndian: Int32(0))
    encode(&self)
    let length = UInt32(count - start - 4).bigEndian
    Swift.withUnsafeBytes(of: length) { replaceSubrange(start..<start + 4, with: $0) }
  }
}
