import SystemIO

/// A part of a file: a whole one, or a member of an archive.
struct FileSection: Sendable {
  let file: File
  let range: Range<Int64>

  /// The number of bytes.
  var size: Int64 { range.upperBound - range.lowerBound }

  init(_ file: File, _ range: Range<Int64>) {
    self.file = file
    self.range = range
  }

  /// The whole file, as long as it is now.
  init(_ file: File) throws(SystemError) {
    self.init(file, 0..<(try file.size))
  }

  /// A file that exists under `path`; `nil` if there is none.
  init?(ifPresent path: String) throws(SystemError) {
    do { self = try FileSection(File(path)) } catch  where error.isNotFound { return nil }
  }

  /// All bytes.
  func read() throws(SystemError) -> [UInt8] { try file.read(upTo: Int(size), at: range.lowerBound) }
}
