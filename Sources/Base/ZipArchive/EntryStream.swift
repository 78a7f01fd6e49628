import SystemIO

/// Reads the contents of an entry piece by piece and verifies them.
final class EntryStream {
  private let file: File
  private let entry: ZipEntry
  private let inflater: Inflater?
  private let input: UnsafeMutableRawBufferPointer
  private let output: UnsafeMutableRawBufferPointer
  /// The bytes of `input` that have not been inflated yet.
  private var pending = UnsafeRawBufferPointer(start: nil, count: 0)
  private var consumed: Int64 = 0
  private var produced: Int64 = 0
  private var checksum: UInt32 = 0
  private var isAtEnd = false

  /// Starts reading `entry`. Throws if the entry can only be listed.
  init(_ file: File, _ entry: ZipEntry) throws(ZipError) {
    if let refusal = entry.refusal { throw ZipError(refusal, entry: entry.name) }
    self.file = file
    self.entry = entry
    inflater = entry.method == .deflate ? try Inflater() : nil
    let pieceSize: Int64 = 1 << 17
    input = .allocate(byteCount: Int(max(1, min(entry.compressedSize, pieceSize))), alignment: 16)
    let outputSize = inflater == nil ? 0 : min(max(1, entry.size), pieceSize)
    output = .allocate(byteCount: Int(outputSize), alignment: 16)
  }

  deinit {
    input.deallocate()
    output.deallocate()
  }

  /// The next bytes, valid until the next call; `nil` at the end, after size and checksum were verified.
  func next() throws(ZipError) -> UnsafeRawBufferPointer? {
    while !isAtEnd {
      let piece = if let inflater { try inflate(inflater) } else { try stored() }
      produced += Int64(piece.count)
      guard produced <= entry.size else { throw failure(.sizeDiffers) }
      checksum = ZipArchive.checksum(of: piece, after: checksum)
      if !piece.isEmpty { return piece }
    }
    guard produced == entry.size else { throw failure(.sizeDiffers) }
    guard checksum == entry.crc32 else { throw failure(.checksumDiffers) }
    return nil
  }

  private func stored() throws(ZipError) -> UnsafeRawBufferPointer {
    try fill()
    isAtEnd = pending.isEmpty
    defer { pending = UnsafeRawBufferPointer(start: nil, count: 0) }
    return pending
  }

  private func inflate(_ inflater: Inflater) throws(ZipError) -> UnsafeRawBufferPointer {
    if pending.isEmpty { try fill() }
    let step: (consumed: Int, produced: Int, isAtEnd: Bool)
    do {
      step = try inflater.inflate(pending, into: output)
    } catch {
      throw failure(error.reason)
    }
    pending = UnsafeRawBufferPointer(rebasing: pending[step.consumed...])
    isAtEnd = step.isAtEnd
    // The deflate stream must end exactly at the end of the entry's data.
    let isUsedUp = pending.isEmpty && consumed == entry.compressedSize
    if isAtEnd ? !isUsedUp : isUsedUp && step.produced == 0 { throw failure(.corruptData) }
    return UnsafeRawBufferPointer(rebasing: output[..<step.produced])
  }

  /// Reads the next bytes of the entry's data into `input`.
  private func fill() throws(ZipError) {
    let count = Int(min(Int64(input.count), entry.compressedSize - consumed))
    let target = UnsafeMutableRawBufferPointer(rebasing: input[..<count])
    let offset = entry.dataOffset + consumed
    let file = file
    let read = try mapSystemError(entry: entry.name) { () throws(SystemError) in
      try file.read(into: target, at: offset)
    }
    guard read == count else { throw failure(.truncated) }
    consumed += Int64(count)
    pending = UnsafeRawBufferPointer(target)
  }

  private func failure(_ reason: ZipError.Reason) -> ZipError { ZipError(reason, entry: entry.name) }
}
