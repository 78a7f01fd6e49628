import SystemIO

/// Reads an archive of regular files, as ``TarWriter`` writes it.
struct TarReader {
  let file: File

  /// Passes every member to `visit`, in order, with the place of its contents.
  /// - Returns: whether the archive is complete and contains nothing else. Otherwise the members before the first
  ///   damage were passed.
  func forEachMember(
    _ visit: (TarHeader, FileSection) throws(SystemError) -> Void
  ) throws(SystemError) -> Bool {
    let end = try file.size
    var offset: Int64 = 0
    while offset + Int64(TarHeader.blockBytes) <= end {
      let block = try file.read(upTo: TarHeader.blockBytes, at: offset)
      // Zeros mark the end.
      if block.allSatisfy({ $0 == 0 }) { return true }
      offset += Int64(TarHeader.blockBytes)
      guard let header = TarHeader(block), header.paddedSize <= end - offset else { return false }
      try visit(header, FileSection(file, offset..<offset + header.size))
      offset += header.paddedSize
    }
    return false
  }
}
