package import SystemIO

/// The contents of one entry, inflated as they are asked for. Not for use from two threads at once.
///
/// Takes a fixed amount of memory, whatever the entry says of itself. What comes is checked on the way: more than
/// the declared size is never handed out, and the end is reached only where size and checksum were right.
package final class ZipContents {
  private let stream: EntryStream
  private let range: Range<Int64>
  private let reachesEnd: Bool
  private var position: Int64 = 0

  /// Begins to read what `entry` of the archive in `file` holds, all of it unless `range` says which bytes.
  ///
  /// What lies before the range is inflated and dropped; what lies behind it is not read, and so the checksum is not
  /// checked. Throws where the entry can only be listed.
  package init(_ file: File, _ entry: ZipEntry, range: Range<Int64>? = nil) throws(ZipError) {
    stream = try EntryStream(file, entry)
    self.range = range ?? 0..<entry.size
    reachesEnd = self.range.upperBound >= entry.size
  }

  /// The next bytes, at least one; `nil` once all came. Whoever got some before an error was thrown has got wrong ones.
  package func next() throws(ZipError) -> [UInt8]? {
    while reachesEnd || position < range.upperBound {
      guard let piece = try stream.next() else { return nil }
      let start = position
      position += Int64(piece.count)
      let wanted = range.clamped(to: start..<position)
      if !wanted.isEmpty {
        return Array(piece[Int(wanted.lowerBound - start)..<Int(wanted.upperBound - start)])
      }
    }
    return nil
  }
}
