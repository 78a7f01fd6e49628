import Crypto
import HTTPEngine
import SnapshotStore
import SystemIO

/// Verifies that the content of one request has the digest that the request states.
final class ContentCheck: Sendable {
  private struct Digests {
    var sha1: Insecure.SHA1?
    var sha256: SHA256?
  }

  private let stated: StatedDigest
  private let digests: Lock<Digests>

  init(_ stated: StatedDigest) {
    self.stated = stated
    digests =
      switch stated {
      case .before(let value):
        Lock(
          Digests(
            sha1: value.algorithm == .sha1 ? Insecure.SHA1() : nil,
            sha256: value.algorithm == .sha256 ? SHA256() : nil))
      case .after: Lock(Digests(sha1: Insecure.SHA1(), sha256: SHA256()))
      }
  }

  /// Returns the same body, with each piece added to the digest before it is passed on.
  func observing(_ body: HTTPRequestBody) -> HTTPRequestBody {
    HTTPRequestBody(declaredLength: body.declaredLength, trailers: { body.trailers }) { [self] in
      // The position is the state of the body, not of its iterator.
      var iterator = body.makeAsyncIterator()
      guard let piece = try await iterator.next() else { return nil }
      await update(piece)
      return piece
    }
  }

  /// Adds the next bytes to the digests.
  func update(_ piece: IOBuffer) async {
    await ServerQueues.shared.writers.next.perform { [self] in
      digests.withLock { digests in
        unsafe piece.withUnsafeBytes { bytes in
          unsafe digests.sha1?.update(bufferPointer: bytes)
          unsafe digests.sha256?.update(bufferPointer: bytes)
        }
      }
    }
  }

  /// Throws if the bytes don't have the stated digest.
  func judge() throws(UploadError) {
    let value: StatedDigest.Value
    switch stated {
    case .before(let before): value = before
    case .after(let ask):
      let after: StatedDigest.Value?
      do { after = try ask() } catch { throw .body(error) }
      guard let after else { throw .digestMissing }
      value = after
    }
    let actual: [UInt8]? = digests.withLock { digests in
      switch value.algorithm {
      case .sha1: digests.sha1.map { Array($0.finalize()) }
      case .sha256: digests.sha256.map { Array($0.finalize()) }
      }
    }
    guard actual == value.bytes else { throw .digestMismatch }
  }
}
