/// A growing buffer that is filled, sent and reused. Not thread-safe: owned by its event loop.
final class OutputBuffer {
  private var storage: UnsafeMutableRawBufferPointer
  /// The number of filled bytes.
  private(set) var count = 0

  init(capacity: Int = 16 * 1024) { storage = .allocate(byteCount: capacity, alignment: 16) }

  deinit { storage.deallocate() }

  /// The filled bytes. Valid until the next change.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[..<count]) }

  func removeAll() { count = 0 }

  @inline(__always)
  private func reserve(_ more: Int) {
    if storage.count - count < more { grow(more) }
  }

  @inline(never)
  private func grow(_ more: Int) {
    let larger = UnsafeMutableRawBufferPointer.allocate(
      byteCount: max(storage.count * 2, count + more), alignment: 16)
    larger.copyMemory(from: bytes)
    storage.deallocate()
    storage = larger
  }

  func append(_ byte: UInt8) {
    reserve(1)
    storage[count] = byte
    count += 1
  }

  func append(_ more: UnsafeRawBufferPointer) {
    guard let source = more.baseAddress, let target = reserved(more.count) else { return }
    target.copyMemory(from: source, byteCount: more.count)
    count += more.count
  }

  /// Without the argument label, a literal would become a `String`.
  @inline(__always)
  func append(literal text: StaticString) {
    append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  func append(_ bytes: [UInt8]) { bytes.withUnsafeBytes { append($0) } }

  func append(_ text: String) { text.withUTF8Bytes { append($0) } }

  /// Appends a non-negative number in digits.
  func append(_ number: Int64, radix: UInt64 = 10) {
    var rest = UInt64(clamping: number)
    var digits = (UInt64(0), UInt64(0), UInt64(0))
    withUnsafeMutableBytes(of: &digits) { buffer in
      var start = buffer.count
      repeat {
        let digit = UInt8(rest % radix)
        start -= 1
        buffer[start] = digit < 10 ? digit + 0x30 : digit - 10 + 0x61
        rest /= radix
      } while rest > 0 && start > 0
      append(UnsafeRawBufferPointer(rebasing: buffer[start...]))
    }
  }

  private func reserved(_ more: Int) -> UnsafeMutableRawPointer? {
    reserve(more)
    return storage.baseAddress.map { $0 + count }
  }
}

extension String {
  /// Like `withUTF8`, but not mutating, so that no copy is necessary. Only strings that are not stored as UTF-8 are
  /// copied, which are bridged from Objective-C.
  @inline(__always)
  func withUTF8Bytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    if let result = utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) {
      return result
    }
    return Array(utf8).withUnsafeBytes(body)
  }
}
