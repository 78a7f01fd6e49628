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
  private let inflated: InflatedCopy?
  private let copy: CopyFile?

  /// Makes `entry` of the archive `file` readable. Its contents are verified when ``complete()`` returns; until then,
  /// reading can wait for them.
  /// - Parameters:
  ///   - entry: an entry that can be read, of a bundle that was checked.
  ///   - file: the archive.
  ///   - space: the space for the inflated copy.
  package init(_ entry: ZipEntry, of file: File, in space: CopySpace) throws(ViewerError) {
    size = Int(entry.size)
    if entry.method == .stored {
      (self.file, start, diskSize, inflated, copy) = (file, entry.dataOffset, 0, nil, nil)
    } else {
      let inflated = try InflatedCopy(entry, of: file, in: space)
      (copy, self.inflated) = (inflated.contents, inflated)
      (self.file, start, diskSize) = (inflated.contents.file, 0, size)
    }
  }

  /// Makes `file` readable.
  package init(_ file: File) throws(ViewerError) {
    self.file = file
    do { size = Int(try file.size) } catch { throw .system(error) }
    (start, diskSize, inflated, copy) = (0, 0, nil, nil)
  }

  /// Makes the first `size` bytes of `copy` readable, which are all of its bytes.
  init(_ copy: CopyFile, size: Int) {
    (file, self.copy, self.size) = (copy.file, copy, size)
    (start, diskSize, inflated) = (0, size, nil)
  }

  /// Whether the bytes can no longer be read, because the disk needed their space.
  var isLost: Bool { copy?.isLost ?? false }

  /// The first `count` bytes.
  func prefix(_ count: Int) -> ViewedBytes { count < size ? ViewedBytes(self, size: count) : self }

  private init(_ other: ViewedBytes, size: Int) {
    (file, start, inflated, copy) = (other.file, other.start, other.inflated, other.copy)
    (self.size, diskSize) = (size, 0)
  }

  /// Returns when all bytes can be read and are verified.
  package func complete() throws(ViewerError) {
    try inflated?.complete()
  }

  /// The file that contains the bytes, and the offset of the first one.
  package var place: (file: File, offset: Int64) { (file, start) }

  /// Reads `count` bytes at `offset`, or fewer if the file ends before.
  package func read(upTo count: Int, at offset: Int) throws(ViewerError) -> [UInt8] {
    guard offset < size else { return [] }
    let count = min(count, size - offset)
    try inflated?.wait(for: offset + count)
    let bytes: [UInt8]
    do { bytes = try file.read(upTo: count, at: start + Int64(offset)) } catch { throw .system(error) }
    try copy?.requireContents()
    return bytes
  }
}
