import SystemIO

/// Compresses sources into the data of entries. Thread-safe. The same source always gives the same data.
final class EntryEncoder: Sendable {
  /// The properties of the data that an entry's headers contain.
  struct Encoded: Sendable {
    var method: UInt16
    var crc32: UInt32
    var size: Int64
    var compressedSize: Int64
  }

  private let effort: Deflater.Effort?
  private let limits: ZipLimits
  private let idle = Lock(Idle())

  /// Idle deflaters are reused: creating one takes longer than deflating a small file.
  ///
  /// - Invariant: A thread that removes a deflater is its only user until it returns it. This makes `@unchecked
  ///   Sendable` safe.
  private struct Idle: @unchecked Sendable {
    var deflaters: [Deflater] = []
  }

  /// - Parameter level: The compression level of zlib, 0 (stored) to 9.
  init(level: Int32, limits: ZipLimits) {
    effort = level <= 0 ? nil : .level(min(level, 9))
    // Together with its two headers, an entry of up to this size takes at least 1/500 of its contents' size. If all
    // larger entries satisfy the ratio limit on their own, the whole archive does too.
    var limits = limits
    limits.ratioThreshold = min(limits.ratioThreshold, 64 << 10)
    self.limits = limits
  }

  /// Writes the data of `source` to `sink`: deflated if that is smaller, otherwise stored.
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

  /// Repeated patterns can compress so well that a reader would reject the entry as a decompression bomb.
  private func isTooSmall(_ compressedSize: Int64, for source: EntrySource) -> Bool {
    limits.exceeded(size: UInt64(source.size), compressedSize: UInt64(compressedSize)) == .ratio
  }
}

/// The destination of an entry's data.
protocol EntrySink {
  /// The number of bytes written.
  var count: Int64 { get }
  /// Appends `bytes`.
  mutating func write(_ bytes: UnsafeRawBufferPointer) throws(ZipError)
  /// Discards all bytes written so far.
  mutating func reset()
}

/// Collects the data in memory.
struct MemorySink: EntrySink {
  private(set) var bytes: [UInt8] = []
  var count: Int64 { Int64(bytes.count) }

  mutating func write(_ bytes: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: bytes) }
  mutating func reset() { bytes.removeAll(keepingCapacity: true) }
}

/// Writes the data to its position in the archive.
struct FileSink: EntrySink {
  let file: File
  let start: Int64
  private(set) var count: Int64 = 0

  init(_ file: File, at start: Int64) {
    self.file = file
    self.start = start
  }

  mutating func write(_ bytes: UnsafeRawBufferPointer) throws(ZipError) {
    let (file, offset) = (file, start + count)
    try mapSystemError { () throws(SystemError) in try file.write(bytes, at: offset) }
    count += Int64(bytes.count)
  }

  mutating func write(_ bytes: [UInt8]) throws(ZipError) {
    let (file, offset) = (file, start + count)
    try mapSystemError { () throws(SystemError) in try file.write(bytes, at: offset) }
    count += Int64(bytes.count)
  }

  mutating func reset() { count = 0 }
}

/// The source of an entry's contents.
struct EntrySource {
  /// The size in bytes. If a file grows later, only this many bytes are read.
  let size: Int64
  private let origin: Origin

  private enum Origin {
    case file(File)
    case bytes([UInt8])
  }

  /// Reads the contents of `file`, which must be a regular file.
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

  /// Fills `buffer` with the bytes at `offset`; with fewer if the source ends before.
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
