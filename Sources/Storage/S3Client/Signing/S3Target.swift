import HTTPSemantics

/// The path and query of a request to S3, both encoded.
struct S3Target: CustomStringConvertible {
  var path: String
  /// Names and values, encoded. A name can occur several times.
  var query: [(name: String, value: String)]

  init(path: String, query: [(name: String, value: String)] = []) {
    self.path = path
    self.query = query
  }

  /// Separates the query of `text`. A name without `=` gets an empty value.
  init(_ text: String) {
    let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = String(parts[0])
    query = (parts.count == 2 ? parts[1].split(separator: "&") : []).map { item in
      let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (String(pair[0]), pair.count == 2 ? String(pair[1]) : "")
    }
  }

  /// The same target with its query in the order in which it is signed: by name, and then by value.
  var sorted: S3Target {
    S3Target(
      path: path,
      query: query.sorted { left, right in
        left.name == right.name
          ? left.value.utf8.lexicographicallyPrecedes(right.value.utf8)
          : left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
      })
  }

  /// The query without `?`.
  var queryText: String { query.map { "\($0.name)=\($0.value)" }.joined(separator: "&") }

  var description: String { query.isEmpty ? path : "\(path)?\(queryText)" }
}

/// The encodings that S3 prescribes.
package enum S3Encoding {
  /// Percent-encodes everything but unreserved characters (RFC 3986 §2.3).
  package static func encode(_ text: String) -> String { PercentCoding.encode(text) }

  /// Percent-encodes a key for a path: like ``encode(_:)``, but keeps slashes.
  package static func encodePath(_ key: String) -> String {
    key.split(separator: "/", omittingEmptySubsequences: false).map { encode(String($0)) }
      .joined(separator: "/")
  }

  /// Lower-case hexadecimal digits.
  package static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.reduce(into: "") { text, byte in
      if byte < 16 { text += "0" }
      text += String(byte, radix: 16)
    }
  }
}
