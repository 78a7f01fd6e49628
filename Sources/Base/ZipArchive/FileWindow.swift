import SystemIO

/// Reads a range of a file from front to back through a small buffer.
struct FileWindow {
  /// The offset of the next byte.
  private(set) var offset: Int64
  /// Where the range ends.
  let end: Int64

  private let file: File
  private let piece: Int
  private var buffer: [UInt8] = []
  private var used = 0

  /// - Parameter piece: How many bytes are read at once.
  init(_ file: File, _ range: Range<Int64>, piece: Int = 1 << 16) {
    self.file = file
    self.piece = piece
    offset = range.lowerBound
    end = range.upperBound
  }

  /// The next `count` bytes, or `nil` where the range or the file ends before.
  mutating func take(_ count: Int) throws(ZipError) -> [UInt8]? {
    try take(count) { Array($0[$1..<($1 + count)]) }
  }

  /// What `read` makes of the next `count` bytes, which are not copied for it; `nil` where the range or the file ends
  /// before.
  /// - Parameter read: Gets bytes, and where the next ones begin in them.
  mutating func take<Value>(
    _ count: Int, _ read: ([UInt8], Int) -> Value
  ) throws(ZipError) -> Value? {
    guard Int64(count) <= end - offset else { return nil }
    if buffer.count - used < count {
      let length = Int(min(Int64(max(count, piece)), end - offset))
      let (file, offset) = (file, offset)
      buffer = try mapSystemError { () throws(SystemError) in try file.read(upTo: length, at: offset) }
      used = 0
      guard buffer.count >= count else { return nil }
    }
    defer {
      used += count
      offset += Int64(count)
    }
    return read(buffer, used)
  }

  /// Passes over `count` bytes; answers whether the range has them.
  mutating func skip(_ count: Int) -> Bool {
    guard Int64(count) <= end - offset else { return false }
    offset += Int64(count)
    used += count
    if used > buffer.count { (buffer, used) = ([], 0) }
    return true
  }

  /// Goes back to `start`, where it was before.
  mutating func goBack(to start: Int64) {
    used -= Int(offset - start)
    offset = start
    if used < 0 { (buffer, used) = ([], 0) }
  }
}
