package import SystemIO
package import ZipArchive

/// The contents of a file in a bundle, readable at any offset. Thread-safe; every call blocks while reading.
///
/// A stored entry is read in the bundle. A deflated entry is inflated once into an ``InflatedCopy``.
package struct ViewedBytes: Sendable {
  /// The number of bytes.
  package let size: Int
  /// The number of bytes on the disk that this value uses beside the bundle.
  package let diskSize: Int

  private let file: File
  private let start: Int64
  private let copy: InflatedCopy?

  /// Makes `entry` of the archive `file` readable. Its contents are verified when ``complete()`` returns; until then,
  /// reading can wait for them.
  /// - Parameters:
  ///   - entry: an entry that can be read, of a bundle that was checked.
  ///   - file: the archive.
  ///   - folder: the folder for the inflated copy.
  package init(_ entry: ZipEntry, of file: File, folder: String) throws(ViewerError) {
    size = Int(entry.size)
    if entry.method == .stored {
      (self.file, start, diskSize, copy) = (file, entry.dataOffset, 0, nil)
    } else {
      let copy = try InflatedCopy(entry, of: file, folder: folder)
      (self.file, start, diskSize, self.copy) = (copy.file, 0, size, copy)
    }
  }

  /// Makes `file` readable.
  package init(_ file: File) throws(ViewerError) {
    self.file = file
    do { size = Int(try file.size) } catch { throw .system(error) }
    (start, diskSize, copy) = (0, 0, nil)
  }

  /// Makes `file` readable, which exists only for this value and its copies.
  init(copy file: File) throws(ViewerError) {
    self.file = file
    do { size = Int(try file.size) } catch { throw .system(error) }
    (start, diskSize, copy) = (0, size, nil)
  }

  /// Returns when all bytes can be read and are verified.
  package func complete() throws(ViewerError) {
    try copy?.complete()
  }

  /// The file that contains the bytes, and the offset of the first one.
  package var place: (file: File, offset: Int64) { (file, start) }

  /// Reads `count` bytes at `offset`, or fewer if the file ends before.
  package func read(upTo count: Int, at offset: Int) throws(ViewerError) -> [UInt8] {
    guard offset < size else { return [] }
    let count = min(count, size - offset)
    try copy?.wait(for: offset + count)
    do {
      return try file.read(upTo: count, at: start + Int64(offset))
    } catch {
      throw .system(error)
    }
  }
}
