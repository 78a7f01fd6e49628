/// A parser that splits a `multipart/form-data` body into its parts (RFC 7578, RFC 2046 §5.1). It accepts input in
/// pieces of any size and buffers at most one part's head.
///
/// It is stricter than some parsers: lines must end in CRLF, and a line that starts with the boundary is a boundary or
/// an error, never data.
public struct MultipartParser: Sendable {
  /// Limits for everything in a form except the data of its parts.
  public struct Limits: Sendable, Hashable {
    /// The maximum length of a delimiter line, including two line ends and four dashes, in bytes.
    public static let boundaryBytes = 78
    /// The maximum number of parts.
    public var parts = 64
    /// The maximum size of one part's head, in bytes.
    public var headBytes = 8 * 1024
    /// The maximum number of bytes that are neither head nor data: before the first boundary, after the last one, and
    /// on the lines of boundaries.
    public var paddingBytes = 4096

    /// Creates limits with the default values.
    public init() {}
  }

  /// An element of the body.
  public enum Event: Sendable, Equatable {
    /// A part starts.
    case part(MultipartPart)
    /// This range of the input is data of the part.
    case input(Range<Int>)
    /// These bytes are data of the part. They were at the end of an earlier input and could have been the start of a
    /// boundary.
    case heldBack([UInt8])
    /// The part ends.
    case endOfPart
  }

  private enum State: Sendable {
    case preamble, boundaryLine, head, data, epilogue
  }

  private let limits: Limits
  /// CRLF, two dashes, and the boundary. Only the first byte is a carriage return, so after a mismatch the next match
  /// can start only at another carriage return.
  private let delimiter: [UInt8]
  private var state = State.preamble
  /// How many bytes of the delimiter were matched at the end of earlier input.
  private var matched = lineEnd
  /// How many of the matched bytes are never data: the line end of a head, and the line end that is assumed before the
  /// body.
  private var skipped = lineEnd
  private var line: [UInt8] = []
  private var head: [UInt8] = []
  private var paddingCount = 0
  private var partCount = 0
  private static let lineEnd = 2

  /// Creates a parser for a body with the given boundary.
  public init(boundary: String, limits: Limits = Limits()) throws(MultipartError) {
    let bytes = Array(boundary.utf8)
    guard (1...70).contains(bytes.count), bytes.allSatisfy(Self.isBoundaryByte),
      bytes.last != UInt8(ascii: " ")
    else { throw .boundary }
    delimiter = Array("\r\n--".utf8) + bytes
    self.limits = limits
  }

  /// Parses the next event from `input` and advances `position`. Returns `nil` when all of `input` was consumed.
  public mutating func next(
    in input: UnsafeRawBufferPointer, at position: inout Int
  ) throws(MultipartError) -> Event? {
    while position < input.count {
      switch state {
      case .preamble, .data:
        if let event = try scan(input, &position) { return event }
      case .boundaryLine:
        try readBoundaryLine(input[position])
        position += 1
      case .head:
        let part = try readHead(input[position])
        position += 1
        if let part { return .part(part) }
      case .epilogue:
        try countPadding(input.count - position)
        position = input.count
      }
    }
    return nil
  }

  /// Ends the input. Throws if the last boundary is missing.
  public func finish() throws(MultipartError) {
    guard state == .epilogue else { throw .truncated }
  }

  /// Consumes data up to a boundary, the end of the input, or a possible start of a boundary at the end of the input.
  private mutating func scan(
    _ input: UnsafeRawBufferPointer, _ position: inout Int
  ) throws(MultipartError) -> Event? {
    if matched > 0 { return try settle(input, &position) }
    let start = position
    var end = start
    while let candidate = input[end...].firstIndex(of: UInt8(ascii: "\r")) {
      let length = matchLength(input, at: candidate, from: 0)
      let isComplete = length == delimiter.count
      if isComplete || candidate + length == input.count {
        if isComplete, candidate == start {
          position = start + length
          return reachBoundary()
        }
        // The next call starts at the boundary and reads it again.
        position = isComplete ? candidate : input.count
        matched = isComplete ? 0 : length
        return try data(start..<candidate)
      }
      end = candidate + 1
    }
    position = input.count
    return try data(start..<input.count)
  }

  /// Decides whether the partial match at the end of earlier input is a boundary.
  private mutating func settle(
    _ input: UnsafeRawBufferPointer, _ position: inout Int
  ) throws(MultipartError) -> Event? {
    let length = matchLength(input, at: position, from: matched)
    if matched + length == delimiter.count {
      position += length
      return reachBoundary()
    }
    if position + length == input.count {
      matched += length
      position = input.count
      return nil
    }
    let heldBack = Array(delimiter[skipped..<matched])
    (matched, skipped) = (0, 0)
    guard state == .data else {
      try countPadding(heldBack.count)
      return nil
    }
    return heldBack.isEmpty ? nil : .heldBack(heldBack)
  }

  private func matchLength(_ input: UnsafeRawBufferPointer, at position: Int, from start: Int) -> Int {
    var length = 0
    while start + length < delimiter.count, position + length < input.count,
      input[position + length] == delimiter[start + length]
    {
      length += 1
    }
    return length
  }

  private mutating func data(_ range: Range<Int>) throws(MultipartError) -> Event? {
    guard state == .data else {
      try countPadding(range.count)
      return nil
    }
    return range.isEmpty ? nil : .input(range)
  }

  private mutating func reachBoundary() -> Event? {
    let event: Event? = state == .data ? .endOfPart : nil
    (state, matched, skipped) = (.boundaryLine, 0, 0)
    line.removeAll(keepingCapacity: true)
    return event
  }

  /// A boundary is followed by two dashes, or by white space and the end of the line.
  private mutating func readBoundaryLine(_ byte: UInt8) throws(MultipartError) {
    switch (byte, line.last) {
    case (UInt8(ascii: "-"), nil):
      line.append(byte)
    case (UInt8(ascii: "-"), UInt8(ascii: "-")):
      state = .epilogue
    case (UInt8(ascii: "\n"), UInt8(ascii: "\r")):
      partCount += 1
      guard partCount <= limits.parts else { throw .tooManyParts(limit: limits.parts) }
      state = .head
    case (UInt8(ascii: " "), let last), (UInt8(ascii: "\t"), let last), (UInt8(ascii: "\r"), let last):
      guard last != UInt8(ascii: "-"), last != UInt8(ascii: "\r") else { throw .boundaryLine }
      try countPadding(1)
      line.append(byte)
    default:
      throw .boundaryLine
    }
  }

  private mutating func readHead(_ byte: UInt8) throws(MultipartError) -> MultipartPart? {
    head.append(byte)
    guard head.count <= limits.headBytes else { throw .headTooLong(limit: limits.headBytes) }
    let lineEnd: [UInt8] = [13, 10]
    guard byte == 10, head == lineEnd || head.suffix(4) == lineEnd + lineEnd else { return nil }
    let part = try MultipartPart(head: head.dropLast(2))
    head.removeAll(keepingCapacity: true)
    // The line end of a head can also be the one before the boundary, if the part has no data.
    (state, matched, skipped) = (.data, Self.lineEnd, Self.lineEnd)
    return part
  }

  private mutating func countPadding(_ count: Int) throws(MultipartError) {
    paddingCount += count
    guard paddingCount <= limits.paddingBytes else { throw .paddingTooLong(limit: limits.paddingBytes) }
  }

  private static func isBoundaryByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "'()+_,-./:=? ".utf8.contains(byte)
    }
  }
}
