/// The field `Content-Range: bytes first-last/complete` (RFC 9110 §14.4).
package struct ContentRange: Hashable, Sendable {
  /// The position of the first byte.
  package let first: Int64
  /// The position of the last byte.
  package let last: Int64
  /// The length of the whole, where the server knows it.
  package let complete: Int64?

  /// Reads the form above; `nil` for other units, for `*` in place of a range, and for lengths that can't be.
  package init?(_ text: String) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
    let halves = parts[1].split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = Self.number(ends[0]), let last = Self.number(ends[1]), first <= last
    else {
      return nil
    }
    if halves[1] == "*" {
      complete = nil
    } else {
      guard let complete = Self.number(halves[1]), last < complete else { return nil }
      self.complete = complete
    }
    self.first = first
    self.last = last
  }

  private static func number(_ text: Substring) -> Int64? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
  }
}
