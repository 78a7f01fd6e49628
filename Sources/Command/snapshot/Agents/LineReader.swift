/// Splits a stream into lines of limited length.
struct LineReader: Sendable {
  /// A line, or that one was too long, whose bytes are dropped.
  enum Line: Sendable, Hashable {
    case complete([UInt8])
    case tooLong
  }

  private let limit: Int
  private var line: [UInt8] = []
  private var isTooLong = false

  /// - Parameter limit: the maximum number of bytes of a line, without its end.
  init(limit: Int) { self.limit = limit }

  /// Takes the next bytes, and returns the lines that end in them.
  mutating func take(_ bytes: ArraySlice<UInt8>) -> [Line] {
    var lines: [Line] = []
    var rest = bytes
    while let end = rest.firstIndex(of: 0x0A) {
      add(rest[..<end])
      if let line = finish() { lines.append(line) }
      rest = rest[(end + 1)...]
    }
    add(rest)
    return lines
  }

  /// Ends the last line, also without a line end; `nil` if there is none.
  mutating func finish() -> Line? {
    defer { (line, isTooLong) = ([], false) }
    if isTooLong { return .tooLong }
    return line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) ? nil : .complete(line)
  }

  private mutating func add(_ bytes: ArraySlice<UInt8>) {
    guard !isTooLong, line.count + bytes.count <= limit else {
      (line, isTooLong) = ([], true)
      return
    }
    line += bytes
  }
}
