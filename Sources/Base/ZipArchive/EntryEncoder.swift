import Synchronization

/// Turns sources into entries' data. May be used from many threads at once; the same source gives the same data.
final class EntryEncoder: Sendable {
  /// What an entry's headers say of its data.
  struct Encoded: Sendable {
    var method: UInt16
    var crc32: UInt32
    var size: Int64
    var compressedSize: Int64
  }

  private let effort: Deflater.Effort?
  private let limits: ZipLimits
  private let idle = Mutex(Idle())

  /// Deflaters wait here for their next source: making one takes longer than deflating a small file.
  ///
  /// - Invariant: who takes one out is its only user until it is put back. That makes `@unchecked Sendable` true.
  private struct Idle: @unchecked Sendable {
    var deflaters: [Deflater] = []
  }

  /// - Parameter level: zlib's, 0 (stored) to 9.
  init(level: Int32, limits: ZipLimits) {
    effort = level <= 0 ? nil : .level(min(level, 9))
    // An entry up to this size, its two headers counted, can't be a 500th of itself: so all entries together keep
    // the ratio that a reader wants of them together.
    var limits = limits
    limits.ratioThreshold = min(limits.ratioThreshold, 64 << 10)
    self.limits = limits
  }

  /// Writes the data of `source` to `sink`: deflated where that makes it smaller, else as it is.
  func encode(_ source: EntrySource, into sink: inout some EntrySink) throws(ZipError) -> Encoded {
    let deflater = try takeDeflater()
    defer { idle.withLock { $0.deflaters.append(deflater) } }
    if effort != nil, source.size > 0 {
      var crc = try deflater.deflate(source, into: &sink)
      if crc != nil, isTooSmall(sink.count, for: source) {
        sink.reset()
        crc = try Deflater(.lettersOnly).deflate(source, into: &sink)
      }
      if let crc, !isTooSmall(sink.count, for: source) {
        return Encoded(method: 8, crc32: crc, size: source.size, compressedSize: sink.count)
      }
      sink.reset()
    }
    let crc = try deflater.store(source, into: &sink)
    return Encoded(method: 0, crc32: crc, size: source.size, compressedSize: source.size)
  }

  private func takeDeflater() throws(ZipError) -> Deflater {
    if let deflater = idle.withLock({ $0.deflaters.popLast() }) { return deflater }
    return try Deflater(effort ?? .lettersOnly)
  }

  /// A run of one pattern can shrink so much that a reader would take it for a bomb.
  private func isTooSmall(_ compressedSize: Int64, for source: EntrySource) -> Bool {
    limits.exceeded(size: UInt64(source.size), compressedSize: UInt64(compressedSize)) == .ratio
  }
}
