package import SystemIO
package import ZipArchive

/// The contents of a file in a bundle, readable at any offset. Thread-safe; every call blocks while reading.
///
/// A stored entry is read in the bundle. A deflated entry is inflated once into a file without a name, which the system
/// removes with the last reference, also after a crash.
package struct ViewedBytes: Sendable {
  /// The number of bytes.
  package let size: Int
  /// The number of bytes on the disk that this value uses beside the bundle.
  package let diskSize: Int

  private let file: File
  private let start: Int64

  /// Makes `entry` of the archive `file` readable.
  /// - Parameters:
  ///   - entry: an entry that can be read, of a bundle that was checked.
  ///   - file: the archive.
  ///   - folder: the folder for the inflated copy.
  package init(_ entry: ZipEntry, of file: File, folder: String) throws(ViewerError) {
    size = Int(entry.size)
    if entry.method == .stored {
      (self.file, start, diskSize) = (file, entry.dataOffset, 0)
    } else {
      self.file = try Self.copy(entry, of: file, folder: folder)
      (start, diskSize) = (0, size)
    }
  }

  /// Makes `file` readable.
  package init(_ file: File) throws(ViewerError) {
    self.file = file
    do { size = Int(try file.size) } catch { throw .system(error) }
    (start, diskSize) = (0, 0)
  }

  /// Makes `file` readable, which exists only for this value and its copies.
  init(copy file: File) throws(ViewerError) {
    self.file = file
    do { size = Int(try file.size) } catch { throw .system(error) }
    (start, diskSize) = (0, size)
  }

  private static func copy(_ entry: ZipEntry, of file: File, folder: String) throws(ViewerError) -> File {
    let copy: File
    do { copy = try File(temporaryIn: folder) } catch { throw .system(error) }
    let contents: ZipContents
    do { contents = try ZipContents(file, entry) } catch { throw .zip(error) }
    var offset: Int64 = 0
    while true {
      let next: [UInt8]?
      do { next = try contents.next() } catch { throw .zip(error) }
      guard let piece = next else { return copy }
      do { try copy.write(piece, at: offset) } catch { throw .system(error) }
      offset += Int64(piece.count)
    }
  }

  /// The file that contains the bytes, and the offset of the first one.
  package var place: (file: File, offset: Int64) { (file, start) }

  /// Reads `count` bytes at `offset`, or fewer if the file ends before.
  package func read(upTo count: Int, at offset: Int) throws(ViewerError) -> [UInt8] {
    guard offset < size else { return [] }
    do {
      return try file.read(upTo: min(count, size - offset), at: start + Int64(offset))
    } catch {
      throw .system(error)
    }
  }
}
