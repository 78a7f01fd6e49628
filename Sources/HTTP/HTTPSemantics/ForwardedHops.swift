public import HTTPTypes

/// Whom the proxies on a request's way took it from, by the `for` of each element of `Forwarded` (RFC 7239 §4): the
/// last hop first, because each proxy adds its element at the end.
///
/// The fields are read from the end as well, so that nothing which a client wrote before them, such as a quote that
/// never ends, changes what the proxies' own elements say. The sequence ends before the first element that is
/// malformed or doesn't say for whom it was.
public struct ForwardedHops: Sequence, IteratorProtocol, Sendable {
  private var lines: [Substring.UTF8View]

  /// The hops that `fields` tell of.
  public init(in fields: HTTPFields) { lines = fields[values: .forwarded].map { Substring($0).utf8 } }

  /// The hop before the last one that was told of.
  public mutating func next() -> ForwardedNode? {
    while let element = takeElement() {
      // Empty elements are legal in what is received (RFC 9110 §5.6.1.2).
      if element.allSatisfy({ $0 == " " || $0 == "\t" }) { continue }
      var scanner = FieldScanner(";" + element)
      if let text = scanner.parameters()?["for"], let node = ForwardedNode(text) { return node }
      lines = []
    }
    return nil
  }

  /// What follows the last comma that stands outside quotes.
  private mutating func takeElement() -> Substring? {
    guard let line = lines.popLast() else { return nil }
    var isQuoted = false
    var index = line.endIndex
    while index > line.startIndex {
      index = line.index(before: index)
      if line[index] == UInt8(ascii: "\"") { isQuoted.toggle() }
      if line[index] == UInt8(ascii: ","), !isQuoted {
        lines.append(line[..<index])
        return Substring(line[line.index(after: index)...])
      }
    }
    return Substring(line)
  }
}
