/// The records at the end of an archive to be written. Those of ZIP64 are used only if needed.
struct ArchiveEnd {
  /// The number of entries.
  let entries: Int
  /// The length of the central directory in bytes.
  let directorySize: Int64
  /// The offset of the central directory.
  let directoryOffset: Int64

  /// The records.
  func bytes(_ thresholds: ZipWriter.Thresholds) -> [UInt8] {
    let (size, end) = (directorySize, directoryOffset)
    let isWide = entries >= thresholds.entries || size >= thresholds.size || end >= thresholds.size
    var bytes: [UInt8] = []
    if isWide {
      bytes.append(littleEndian: Signature.end64)
      bytes.append(littleEndian: UInt64(EndRecord.length64 - 12))
      bytes.append(littleEndian: EntryHeader.madeBy)
      bytes.append(littleEndian: UInt16(45))
      bytes.append(littleEndian: UInt64(0))
      bytes.append(littleEndian: UInt64(entries))
      bytes.append(littleEndian: UInt64(entries))
      bytes.append(littleEndian: size)
      bytes.append(littleEndian: end)
      bytes.append(littleEndian: Signature.locator64)
      bytes.append(littleEndian: UInt32(0))
      bytes.append(littleEndian: end + size)
      bytes.append(littleEndian: UInt32(1))
    }
    let count = entries >= thresholds.entries ? .max : UInt16(entries)
    bytes.append(littleEndian: Signature.end)
    bytes.append(littleEndian: UInt32(0))
    bytes.append(littleEndian: count)
    bytes.append(littleEndian: count)
    bytes.append(littleEndian: size >= thresholds.size ? .max : UInt32(size))
    bytes.append(littleEndian: end >= thresholds.size ? .max : UInt32(end))
    bytes.append(littleEndian: UInt16(0))
    return bytes
  }
}
