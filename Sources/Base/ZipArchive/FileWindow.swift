import SystemIO

/// Reads a range of a file sequentially through a small buffer.
struct FileWindow {
  /// The offset of the next byte.
  private(set) var offset: Int64
  /// The end of the range.
  let end: Int64

  private let file: File
  private let piece: Int
  private var buffer: [UInt8] = []
  private var used = 0

  /// - Parameter piece: The number of bytes to read at once.
  init(_ file: File, _ range: Range<Int64>, piece: Int = 1 << 16) {
    self.file = file
    self.piece = piece
    offset = range.lowerBound
    end = range.upperBound
  }

  /// The next `count` bytes, or `nil` if the range or the file ends before.
  mutating func take(_ count: Int) throws(ZipError) -> [UInt8]? {
    try take(count) { Array($0[$1..<($1 + count)]) }
  }

  /// Calls `read` with the next `count` bytes, without copying them, and returns its result; `nil` if the range or the
  /// file ends before.
  /// - Parameter read: Called with a buffer and the index in it at which the bytes begin.
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

  /// Skips `count` bytes. Returns `false` if the range has fewer.
  mutating func skip(_ count: Int) -> Bool {
    guard Int64(count) <= end - offset else { return false }
    offset += Int64(count)
    used += count
    if used > buffer.count { (buffer, used) = ([], 0) }
    return true
  }

  /// Moves back to the earlier offset `start`.
  mutating func goBack(to start: Int64) {
    used -= Int(offset - start)
    offset = start
    if used < 0 { (buffer, used) = ([], 0) }
  }
}
