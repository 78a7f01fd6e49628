/// Opens a sealed file whose bytes arrive in pieces. Returns only bytes that were authenticated.
///
/// A file is complete and authentic only when ``finish()`` has returned: before, the end could be missing. Takes memory
/// for one chunk of 64 KiB, or for the header, besides that of the pieces.
package struct Unsealer: Sendable {
  private enum State {
    case header(HeaderParser)
    case nonce(FileKey)
    case chunks(ChunkCipher)
    case failed(SealingError)
  }

  /// The header, once it has arrived and was authenticated.
  package private(set) var header: SealedHeader?

  private let keys: [any UnwrappingKey]
  private var state = State.header(HeaderParser())
  private var pending: [UInt8] = []
  private var index: Int64 = 0

  /// Begins to open a file.
  /// - Parameter keys: The identities that may open it.
  package init(with keys: [any UnwrappingKey]) { self.keys = keys }

  /// Takes the next bytes of the file.
  /// - Returns: the next bytes of the contents. If an error follows them, the next call throws it.
  package mutating func open(_ bytes: some Collection<UInt8>) throws(SealingError) -> [UInt8] {
    if case .failed(let error) = state { throw error }
    pending += bytes
    var output: [UInt8] = []
    do {
      try advance(into: &output)
    } catch {
      (state, pending) = (.failed(error), [])
      if output.isEmpty { throw error }
    }
    return output
  }

  /// Opens the last chunk. Throws if the file is not complete.
  /// - Returns: the last bytes of the contents.
  package mutating func finish() throws(SealingError) -> [UInt8] {
    switch state {
    case .header, .nonce: throw .truncated
    case .failed(let error): throw error
    case .chunks(let cipher):
      guard let chunk = cipher.open(pending[...], index: index, isLast: true) else {
        throw cipher.failure(of: pending[...], index: index, isLast: true)
      }
      // Otherwise the same contents could end with or without an empty chunk.
      guard !chunk.isEmpty || index == 0 else { throw .lastChunkDamaged(index) }
      pending = []
      return Array(chunk)
    }
  }

  private mutating func advance(into output: inout [UInt8]) throws(SealingError) {
    if case .header(var parser) = state {
      var rest = pending[...]
      let header = try parser.take(&rest)
      pending = Array(rest)
      state = .header(parser)
      guard let header else { return }
      state = .nonce(try header.unwrap(with: keys))
      self.header = header
    }
    if case .nonce(let key) = state {
      guard pending.count >= ChunkCipher.nonceSize else { return }
      state = .chunks(key.chunkCipher(nonce: Array(pending.prefix(ChunkCipher.nonceSize))))
      pending.removeFirst(ChunkCipher.nonceSize)
    }
    guard case .chunks(let cipher) = state, pending.count >= ChunkCipher.sealedChunkSize else { return }
    output.reserveCapacity(pending.count)
    var rest = pending[...]
    while rest.count >= ChunkCipher.sealedChunkSize {
      let sealed = rest.prefix(ChunkCipher.sealedChunkSize)
      if let chunk = cipher.open(sealed, index: index, isLast: false) {
        output += chunk
      } else {
        // If nothing follows, it can be the last one.
        guard rest.count > sealed.count else { break }
        if let chunk = cipher.open(sealed, index: index, isLast: true) { output += chunk }
        throw cipher.failure(of: sealed, index: index, isLast: false)
      }
      rest = rest.dropFirst(ChunkCipher.sealedChunkSize)
      index += 1
    }
    pending = Array(rest)
  }
}
