import Foundation

#if canImport(CryptoKit)
  import CryptoKit
#else
  import Crypto
#endif

/// Encrypts and decrypts the chunks of a payload. Each is bound to its place, and the last one to being the last.
struct ChunkCipher: Sendable {
  /// The number of bytes in each chunk but the last.
  static let chunkSize = 65_536
  static let tagSize = 16
  static let sealedChunkSize = chunkSize + tagSize
  static let nonceSize = 16

  let key: SymmetricKey

  /// Appends the encrypted chunk to `output`.
  func seal(
    _ chunk: ArraySlice<UInt8>, index: Int64, isLast: Bool, into output: inout [UInt8]
  ) throws(SealingError) {
    let nonce = Self.nonce(index, isLast)
    let box = try SealingError.cryptography(
      try ChaChaPoly.seal(chunk, using: key, nonce: ChaChaPoly.Nonce(data: nonce)))
    output += box.combined.dropFirst(nonce.count)
  }

  /// The decrypted chunk; `nil` if it is not the authentic one with this place.
  func open(_ chunk: ArraySlice<UInt8>, index: Int64, isLast: Bool) -> Data? {
    var combined = Data(capacity: 12 + chunk.count)
    combined += Self.nonce(index, isLast)
    combined += chunk
    do { return try ChaChaPoly.open(ChaChaPoly.SealedBox(combined: combined), using: key) } catch {
      return nil
    }
  }

  private static func nonce(_ index: Int64, _ isLast: Bool) -> [UInt8] {
    var nonce = [UInt8](repeating: 0, count: 12)
    for place in 0..<8 { nonce[10 - place] = UInt8(truncatingIfNeeded: index >> Int64(8 * place)) }
    nonce[11] = isLast ? 1 : 0
    return nonce
  }

  /// The reason why a chunk could not be opened at its place. Looks for its place nearby, to tell what happened.
  func failure(of chunk: ArraySlice<UInt8>, index: Int64, isLast: Bool) -> SealingError {
    if isLast {
      if chunk.count < Self.tagSize || open(chunk, index: index, isLast: false) != nil { return .truncated }
    } else if open(chunk, index: index, isLast: true) != nil {
      return .trailingBytes
    }
    for place in max(0, index - 16)...index + 16 where place != index {
      if open(chunk, index: place, isLast: false) != nil || open(chunk, index: place, isLast: true) != nil {
        return .chunksReordered(at: index, found: place)
      }
    }
    return isLast ? .lastChunkDamaged(index) : .chunkDamaged(index)
  }
}
