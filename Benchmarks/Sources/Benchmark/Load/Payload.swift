import Glibc

/// Bytes to send or to expect. They stay in memory until the benchmark ends.
struct Payload {
  let bytes: UnsafeRawBufferPointer

  var count: Int { bytes.count }

  init(_ bytes: [UInt8]) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 64)
    copy.copyBytes(from: bytes)
    self.bytes = UnsafeRawBufferPointer(copy)
  }

  init(file path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure("cannot open \(path): \(Failure.lastError)") }
    defer { close(descriptor) }
    let size = Int(lseek(descriptor, 0, SEEK_END))
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
    var filled = 0
    while filled < size, let base = copy.baseAddress {
      let count = pread(descriptor, base + filled, size - filled, off_t(filled))
      guard count > 0 else { throw Failure("cannot read \(path): \(Failure.lastError)") }
      filled += count
    }
    bytes = UnsafeRawBufferPointer(copy)
  }

  /// Whether the bytes at `offset` are `piece`.
  func holds(_ piece: UnsafeRawBufferPointer, at offset: Int) -> Bool {
    guard offset + piece.count <= bytes.count else { return false }
    guard let expected = bytes.baseAddress, let actual = piece.baseAddress else { return piece.isEmpty }
    return memcmp(expected + offset, actual, piece.count) == 0
  }
}

extension Payload {
  static func size(ofFile path: String) throws -> Int {
    var status = stat()
    guard stat(path, &status) == 0 else { throw Failure("\(path): \(Failure.lastError)") }
    return Int(status.st_size)
  }
}
