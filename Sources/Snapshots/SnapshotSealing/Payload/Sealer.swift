#if canImport(CryptoKit)
  import CryptoKit
#else
  import Crypto
#endif

/// Seals bytes that arrive in pieces. The file is ``header``, then what each ``seal(_:)`` returns, then what
/// ``finish()`` returns.
///
/// Takes memory for one chunk of 64 KiB besides that of the pieces.
package struct Sealer: Sendable {
  /// The first bytes of the file.
  package let header: [UInt8]

  private let cipher: ChunkCipher
  private var pending: [UInt8] = []
  private var index: Int64 = 0

  /// Begins a file with new keys.
  /// - Parameter recipients: Those who can open the file: 1 to ``SealedHeader/maximumStanzas``.
  package init(to recipients: [SealingRecipient]) throws(SealingError) {
    let key = FileKey()
    let sealed = try SealedHeader(stanzas: Self.stanzas(of: key, for: recipients), key: key)
    let nonce = SymmetricKey(size: .bits128).bytes
    header = sealed.bytes + nonce
    cipher = key.chunkCipher(nonce: nonce)
  }

  /// The key of a file, encrypted for each of `recipients`.
  static func stanzas(of key: FileKey, for recipients: [SealingRecipient]) throws(SealingError) -> [Stanza] {
    guard let first = recipients.first else { throw .noRecipient }
    guard recipients.count <= SealedHeader.maximumStanzas else {
      throw .tooManyRecipients(limit: SealedHeader.maximumStanzas)
    }
    guard recipients.allSatisfy({ $0.isHybrid == first.isHybrid }) else { throw .mixedRecipients }
    var stanzas: [Stanza] = []
    for recipient in recipients { stanzas.append(try recipient.wrap(key)) }
    return stanzas
  }

  /// Adds the next bytes.
  /// - Returns: the next bytes of the file; none as long as a chunk is not full.
  package mutating func seal(_ bytes: some Collection<UInt8>) throws(SealingError) -> [UInt8] {
    pending += bytes
    // A chunk that is full is kept until it is known whether it is the last one.
    guard pending.count > ChunkCipher.chunkSize else { return [] }
    var output: [UInt8] = []
    output.reserveCapacity(pending.count / ChunkCipher.chunkSize * ChunkCipher.sealedChunkSize)
    var rest = pending[...]
    while rest.count > ChunkCipher.chunkSize {
      try cipher.seal(rest.prefix(ChunkCipher.chunkSize), index: index, isLast: false, into: &output)
      rest = rest.dropFirst(ChunkCipher.chunkSize)
      index += 1
    }
    pending = Array(rest)
    return output
  }

  /// Ends the file.
  /// - Returns: the last bytes of the file.
  package mutating func finish() throws(SealingError) -> [UInt8] {
    var output: [UInt8] = []
    try cipher.seal(pending[...], index: index, isLast: true, into: &output)
    pending = []
    return output
  }

  /// The size of a sealed file, without its header, whose contents have `size` bytes.
  package static func payloadSize(ofContents size: Int64) -> Int64 {
    let chunks = max(1, (size + Int64(ChunkCipher.chunkSize) - 1) / Int64(ChunkCipher.chunkSize))
    return Int64(ChunkCipher.nonceSize) + size + chunks * Int64(ChunkCipher.tagSize)
  }
}
