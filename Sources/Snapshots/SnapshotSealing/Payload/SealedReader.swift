import SystemIO

/// Reads any place of a sealed file, without decrypting what is before it. Safe to use from any thread.
///
/// Opening authenticates the header and the last chunk, so that ``size`` is authentic; every read authenticates the
/// chunks that it touches. Keeps one decrypted chunk of 64 KiB.
package final class SealedReader: Sendable {
  /// Reads up to `count` bytes of the sealed file at `offset`; fewer only at its end.
  package typealias Source = @Sendable (_ offset: Int64, _ count: Int) throws -> [UInt8]

  /// The header of the file.
  package let header: SealedHeader
  /// The size of the contents in bytes.
  package let size: Int64

  private let source: Source
  private let cipher: ChunkCipher
  private let start: Int64
  private let lastChunk: Int64
  private let cached: Lock<(index: Int64, bytes: [UInt8])>

  /// Opens a file of `sealedSize` bytes.
  /// - Throws: A ``SealingError``, or the error of `source`.
  package init(sealedSize: Int64, with keys: [any UnwrappingKey], source: @escaping Source) throws {
    let header = try Self.header(sealedSize, source)
    let key = try header.unwrap(with: keys)
    let nonce = try source(Int64(header.size), ChunkCipher.nonceSize)
    start = Int64(header.size + ChunkCipher.nonceSize)
    let payload = sealedSize - start
    guard nonce.count == ChunkCipher.nonceSize, payload >= ChunkCipher.tagSize else {
      throw SealingError.truncated
    }
    let chunks = (payload - 1) / Int64(ChunkCipher.sealedChunkSize) + 1
    lastChunk = chunks - 1
    size = payload - chunks * Int64(ChunkCipher.tagSize)
    self.header = header
    self.source = source
    cipher = key.chunkCipher(nonce: nonce)
    cached = Lock((-1, []))
    let last = try chunk(lastChunk)
    guard !last.isEmpty || lastChunk == 0 else { throw SealingError.lastChunkDamaged(lastChunk) }
  }

  private static func header(_ sealedSize: Int64, _ source: Source) throws -> SealedHeader {
    var parser = HeaderParser()
    var offset: Int64 = 0
    while offset < sealedSize {
      var bytes = try source(offset, Int(min(4_096, sealedSize - offset)))[...]
      guard !bytes.isEmpty else { break }
      offset += Int64(bytes.count)
      if let header = try parser.take(&bytes) { return header }
    }
    throw SealingError.truncated
  }

  /// Reads up to `count` bytes of the contents at `offset`; fewer only at the end.
  /// - Throws: A ``SealingError``, or the error of the source.
  package func read(at offset: Int64, count: Int) throws -> [UInt8] {
    guard offset >= 0, offset < size, count > 0 else { return [] }
    let end = offset + min(Int64(count), size - offset)
    let chunkSize = Int64(ChunkCipher.chunkSize)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(end - offset))
    var position = offset
    while position < end {
      let contents = try chunk(position / chunkSize)
      let first = Int(position % chunkSize)
      let piece = contents[first..<min(contents.count, first + Int(end - position))]
      bytes += piece
      position += Int64(piece.count)
    }
    return bytes
  }

  /// The decrypted chunk with this index.
  private func chunk(_ index: Int64) throws -> [UInt8] {
    if let bytes = cached.withLock({ $0.index == index ? $0.bytes : nil }) { return bytes }
    let isLast = index == lastChunk
    let sealedSize = Int64(ChunkCipher.sealedChunkSize)
    let count =
      isLast
      ? Int(size + Int64(ChunkCipher.tagSize) * (lastChunk + 1) - lastChunk * sealedSize) : Int(sealedSize)
    let sealed = try source(start + index * sealedSize, count)
    guard sealed.count == count else { throw SealingError.truncated }
    guard let data = cipher.open(sealed[...], index: index, isLast: isLast) else {
      throw cipher.failure(of: sealed[...], index: index, isLast: isLast)
    }
    let bytes = Array(data)
    cached.withLock { $0 = (index, bytes) }
    return bytes
  }
}
