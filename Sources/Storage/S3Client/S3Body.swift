import Crypto
package import Foundation
import HTTPClient
package import SystemIO

/// The content of a request, with its digest. The store refuses a body that has another digest.
package struct S3Body: Sendable {
  let content: TransportBody
  /// SHA-256 in hexadecimal digits.
  let digest: String

  /// No content.
  static let none = S3Body(content: .none, digest: RequestSigner.emptyBody)

  private init(content: TransportBody, digest: String) {
    self.content = content
    self.digest = digest
  }

  /// Bytes in memory.
  package init(_ bytes: Data) {
    self.init(content: .bytes(bytes), digest: S3Encoding.hexadecimal(SHA256.hash(data: bytes)))
  }

  /// A file whose digest is known.
  /// - Parameters:
  ///   - file: a regular file, which must not change until it is sent.
  ///   - digest: the SHA-256 of its contents: 32 bytes.
  package init(file: URL, digest: some Sequence<UInt8>) {
    self.init(content: .file(file), digest: S3Encoding.hexadecimal(digest))
  }

  /// A range of bytes of a file. Blocks while it computes their digest.
  package init(part range: Range<Int64>, of file: URL) throws(SystemError) {
    let source = try File(file.path)
    var hash = SHA256()
    var offset = range.lowerBound
    while offset < range.upperBound {
      let piece = try source.read(upTo: Int(min(256 << 10, range.upperBound - offset)), at: offset)
      guard !piece.isEmpty else { break }
      hash.update(data: piece)
      offset += Int64(piece.count)
    }
    self.init(
      content: .part(of: file, range.lowerBound..<offset),
      digest: S3Encoding.hexadecimal(hash.finalize()))
  }
}
