import SystemIO

/// What an entry is made from.
struct EntrySource {
  /// How many bytes it has; a file that grows meanwhile is read up to here.
  let size: Int64
  private let origin: Origin

  private enum Origin {
    case file(File)
    case bytes([UInt8])
  }

  /// The contents of `file`, which must be a regular one.
  init(_ file: File) throws(ZipError) {
    guard try mapSystemError({ () throws(SystemError) in try file.isRegular }) else {
      throw ZipError(.notARegularFile)
    }
    size = try mapSystemError { () throws(SystemError) in try file.size }
    origin = .file(file)
  }

  init(_ bytes: [UInt8]) {
    size = Int64(bytes.count)
    origin = .bytes(bytes)
  }

  /// Fills `buffer` with what is at `offset`, or with less where the source ends.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(ZipError)
    -> UnsafeRawBufferPointer
  {
    let count = Int(min(Int64(buffer.count), size - offset))
    let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
    switch origin {
    case .bytes(let bytes): target.copyBytes(from: bytes[Int(offset)..<(Int(offset) + count)])
    case .file(let file):
      let read = try mapSystemError { () throws(SystemError) in try file.read(into: target, at: offset) }
      guard read == count else { throw ZipError(.sourceChanged) }
    }
    return UnsafeRawBufferPointer(target)
  }
}
