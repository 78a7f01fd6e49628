/// Parts a `multipart/form-data` body into its parts (RFC 7578, RFC 2046 §5.1), fed with bytes in pieces of any
/// size. Keeps no more than one part's head.
///
/// Stricter than some: lines end in CRLF, and a line that begins with the boundary is a boundary or an error,
/// never data.
public struct MultipartParser: Sendable {
  /// How much a form may hold besides its parts' data.
  public struct Limits: Sendable, Hashable {
    /// The most bytes that a boundary takes, its two line ends and four dashes included.
    public static let boundaryBytes = 78
    /// The most parts.
    public var parts = 64
    /// The most bytes of one part's head.
    public var headBytes = 8 * 1024
    /// The most bytes that are neither head nor data: before the first boundary, behind the last one, and behind
    /// each on its line.
    public var paddingBytes = 4096

    /// The limits above.
    public init() {}
  }

  /// What comes next in the body.
  public enum Event: Sendable, Equatable {
    /// A part begins.
    case part(MultipartPart)
    /// Bytes of the part: these of the input.
    case input(Range<Int>)
    /// Bytes of the part that earlier input ended with, when they could still have been a boundary.
    case heldBack([UInt8])
    /// The part ends.
    case endOfPart
  }

  private enum State: Sendable {
    case preamble, boundaryLine, head, data, epilogue
  }

  private let limits: Limits
  /// The line end before a boundary, two dashes, and the boundary. Only its first byte is a carriage return, so
  /// whatever matches no further can begin anew only at another one.
  private let delimiter: [UInt8]
  private var state = State.preamble
  /// How many bytes of the delimiter stand at the end of earlier input.
  private var matched = lineEnd
  /// How many of these are no data in any case: the line end behind a head, and the one that the beginning of the
  /// body stands for.
  private var skipped = lineEnd
  private var line: [UInt8] = []
  private var head: [UInt8] = []
  private var paddingCount = 0
  private var partCount = 0
  private static let lineEnd = 2

  /// A parser for a body whose parts `boundary` keeps apart.
  public init(boundary: String, limits: Limits = Limits()) throws(MultipartError) {
    let bytes = Array(boundary.utf8)
    guard (1...70).contains(bytes.count), bytes.allSatisfy(Self.isBoundaryByte),
      bytes.last != UInt8(ascii: " ")
    else { throw .boundary }
    delimiter = Array("\r\n--".utf8) + bytes
    self.limits = limits
  }

  /// Takes what comes next from `input`, moving `position` over it; `nil` when all of `input` is taken.
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

  /// Says that no input follows; throws where the last boundary is missing.
  public func finish() throws(MultipartError) {
    guard state == .epilogue else { throw .truncated }
  }

  /// Takes data up to a boundary, the end of the input, or the beginning of what may become a boundary.
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
        // A boundary behind data is read again by the next call, which begins at it.
        position = isComplete ? candidate : input.count
        matched = isComplete ? 0 : length
        return try data(start..<candidate)
      }
      end = candidate + 1
    }
    position = input.count
    return try data(start..<input.count)
  }

  /// Finds out whether what stood at the end of earlier input is a boundary.
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

  /// Behind a boundary stand two dashes, or white space and the end of the line.
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
    // A part without data may end in the line end of its head.
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
