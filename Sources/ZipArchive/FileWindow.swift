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
    return Array(buffer[used..<(used + count)])
  }

  /// Passes over `count` bytes; answers whether the range has them.
  mutating func skip(_ count: Int) -> Bool {
    guard Int64(count) <= end - offset else { return false }
    offset += Int64(count)
    used = min(used + count, buffer.count)
    return true
  }
}
