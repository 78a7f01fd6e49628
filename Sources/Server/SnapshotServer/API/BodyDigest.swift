import Crypto
import Dispatch
import HTTPEngine
import SnapshotFormat
import Synchronization
import SystemIO

/// Computes the digest of a body while somebody else reads it.
final class BodyDigest: Sendable {
  /// One for all bodies: few uploads need it, and none may use a thread of the event loops.
  private static let queue = DispatchQueue(label: "snapshot-server.body-digest")
  private let hash = Mutex(SHA256())

  /// The same body; every piece of it goes into the digest first.
  func observing(_ body: HTTPRequestBody) -> HTTPRequestBody {
    HTTPRequestBody(declaredLength: body.declaredLength, trailers: { body.trailers }) { [self] in
      // Where a body goes on is the body's own state, not its iterator's.
      var iterator = body.makeAsyncIterator()
      guard let piece = try await iterator.next() else { return nil }
      await Self.queue.perform { self.update(piece) }
      return piece
    }
  }

  /// The digest of what was read.
  var value: ContentDigest { hash.withLock { ContentDigest($0.finalize()) } }

  private func update(_ piece: IOBuffer) {
    hash.withLock { hash in unsafe piece.withUnsafeBytes { unsafe hash.update(bufferPointer: $0) } }
  }
}
