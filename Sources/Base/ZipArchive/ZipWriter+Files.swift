import Dispatch
import Synchronization
import SystemIO

extension ZipWriter {
  /// The most that is deflated ahead of what is written, in files and in their bytes. Larger files are deflated
  /// straight into the archive, one by one.
  private static let batchFiles = 64
  private static let batchSize: Int64 = 16 << 20

  /// Appends one entry for each file, in that order. The archive is, byte for byte, the one that
  /// ``add(_:contentsOf:)`` would make, but all cores work on it. Blocks the calling thread.
  ///
  /// After an error the entries before the one that it names are in the archive, and none from there on.
  /// - Parameters:
  ///   - files: The entries' names and the paths of the regular files that they are made from. Links aren't
  ///     followed.
  ///   - executables: The names of those that are marked as executable.
  package func addFiles(
    _ files: [(name: String, path: String)], executables: Set<String> = []
  ) throws(ZipError) {
    var batch: [(name: String, source: EntrySource)] = []
    var batchSize: Int64 = 0
    for file in files {
      let source: EntrySource
      do throws(ZipError) {
        source = try naming(file.name) { () throws(ZipError) in
          try EntrySource(mapSystemError { () throws(SystemError) in try File(file.path) })
        }
      } catch {
        try add(batch, executables)
        throw error
      }
      if batch.count == Self.batchFiles || batchSize + source.size > Self.batchSize {
        try add(batch, executables)
        batch.removeAll()
        batchSize = 0
      }
      batch.append((file.name, source))
      batchSize += source.size
    }
    try add(batch, executables)
  }

  private typealias Made = Result<(encoded: EntryEncoder.Encoded, data: [UInt8]), ZipError>

  /// Deflates the sources at the same time and appends them in their order.
  private func add(
    _ batch: [(name: String, source: EntrySource)], _ executables: Set<String>
  ) throws(ZipError) {
    guard batch.count > 1 else {
      for (name, source) in batch {
        try naming(name) { () throws(ZipError) in
          try add(name, source, isExecutable: executables.contains(name))
        }
      }
      return
    }
    let made = Mutex([Made?](repeating: nil, count: batch.count))
    let encoder = encoder
    DispatchQueue.concurrentPerform(iterations: batch.count) { index in
      let result = Made { () throws(ZipError) in
        var sink = MemorySink()
        let encoded = try encoder.encode(batch[index].source, into: &sink)
        return (encoded, sink.bytes)
      }
      made.withLock { $0[index] = result }
    }
    for (file, made) in zip(batch, made.withLock { $0 }) {
      guard let made else { continue }
      try naming(file.name) { () throws(ZipError) in
        let (encoded, data) = try made.get()
        try add(file.name, encoded, data: data, isExecutable: executables.contains(file.name))
      }
    }
  }
}
