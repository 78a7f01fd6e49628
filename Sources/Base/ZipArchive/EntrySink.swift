import SystemIO

/// Where an entry's data goes.
protocol EntrySink {
  /// How many bytes were written.
  var count: Int64 { get }
  /// Appends `bytes`.
  mutating func write(_ bytes: UnsafeRawBufferPointer) throws(ZipError)
  /// Forgets what was written, to begin again.
  mutating func reset()
}

/// Keeps the data in memory.
struct MemorySink: EntrySink {
  private(set) var bytes: [UInt8] = []
  var count: Int64 { Int64(bytes.count) }

  mutating func write(_ bytes: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: bytes) }
  mutating func reset() { bytes.removeAll(keepingCapacity: true) }
}

/// Writes the data to its place in the archive.
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

  mutating func reset() { count = 0 }
}
