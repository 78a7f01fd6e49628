/// The number of bytes per request: as many as can be sent in the target time of a piece, within the limits of the
/// server and of proxies.
struct PieceSize: Sendable {
  /// Most proxies accept this size with their default settings.
  private static let first: Int64 = 1024 * 1024
  private static let least: Int64 = 64 * 1024
  private static let most: Int64 = 16 * 1024 * 1024

  /// The size of the next piece, unless fewer bytes remain.
  private(set) var bytes: Int64
  /// The target time of a piece; `nil` if the size does not depend on the time.
  private let seconds: Double?
  private var ceiling: Int64
  private var floor = least

  init(_ policy: ResumptionPolicy) {
    seconds = policy.pieceBytes == nil ? policy.pieceSeconds : nil
    bytes = policy.pieceBytes ?? Self.first
    ceiling = min(policy.pieceBytes ?? Self.most, max(1, policy.maximumRequestBody ?? .max))
    clamp()
  }

  /// Applies the server's limits. If they contradict each other, the upper limit is used.
  mutating func keep(atLeast floor: Int64?, atMost ceiling: Int64?) {
    if let ceiling, ceiling > 0 { self.ceiling = min(self.ceiling, ceiling) }
    if let floor { self.floor = max(self.floor, floor) }
    clamp()
  }

  /// Adapts to a piece of `count` bytes that arrived after `elapsed` seconds.
  mutating func arrived(_ count: Int64, after elapsed: Double) {
    guard let seconds else { return }
    if elapsed > seconds * 2 {
      bytes /= 2
    } else if elapsed < seconds / 2, count >= bytes {
      bytes *= 2
    }
    clamp()
  }

  /// Adapts to a piece that was interrupted.
  mutating func broke() {
    bytes /= 2
    clamp()
  }

  /// Adapts to a piece of `count` bytes that the server or a proxy rejected as too large.
  /// - Returns: whether a smaller piece can be tried.
  mutating func refused(_ count: Int64) -> Bool {
    let half = count / 2
    guard half >= floor else { return false }
    ceiling = min(ceiling, half)
    clamp()
    return true
  }

  private mutating func clamp() { bytes = min(max(bytes, floor), ceiling) }
}

/// Determines which uploads are resumable, and the size of their pieces.
///
/// A resumable upload is first created and then sent in pieces (draft-ietf-httpbis-resumable-upload). Bytes that the
/// server has reported as stored are never sent again after a failure, not even after the end of this process if the
/// upload's state is stored in a file. If the server does not support resumable uploads, the bundle is sent in one
/// request.
public struct ResumptionPolicy: Sendable, Hashable {
  /// The minimum size of a bundle for a resumable upload, in bytes; for smaller bundles, a repeated request costs less.
  /// With `nil`, only bundles larger than ``maximumRequestBody`` are uploaded resumably.
  public var threshold: Int64? = 1024 * 1024
  /// The maximum size of a request's body in bytes, for proxies with a limit; more than 0. If it is `nil`, only the
  /// server's limit applies. Even then, a piece that is rejected as too large is retried with half the size.
  ///
  /// A form with a note and fields beside the bundle can't be sent in pieces, and is not sent if it is larger. A bundle
  /// for a server that does not support resumable uploads is sent in one request, whatever its size.
  public var maximumRequestBody: Int64?
  /// The target duration of a piece at the current speed, in seconds. Behind a proxy that forwards only complete
  /// requests, an interruption can lose the transfer of this duration. The size of pieces is adapted accordingly, from
  /// 64 KiB to 16 MiB.
  public var pieceSeconds: Double = 5
  /// The size of pieces in bytes, whatever time they take; `nil` to adapt it.
  var pieceBytes: Int64?

  /// Creates a policy with the default values.
  public init() {}

  /// Whether a bundle of `size` bytes is uploaded resumably.
  func applies(to size: Int64) -> Bool {
    size >= threshold ?? .max || size > maximumRequestBody ?? .max
  }
}
