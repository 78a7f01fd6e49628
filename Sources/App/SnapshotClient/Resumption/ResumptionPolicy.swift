/// Which uploads can be gone on with where they broke, and in what pieces they go out.
///
/// Such an upload is first opened and then sent piece by piece (draft-ietf-httpbis-resumable-upload): what a server has
/// said to have is never sent again, whatever breaks, this process included where the upload's state is kept. On a
/// server that does not offer it the bundle goes out in one request.
public struct ResumptionPolicy: Sendable, Hashable {
  /// How many bytes a bundle has at least that goes out so; below, one request costs less than a repeat. `nil`: none
  /// does, but for those larger than ``maximumRequestBody``.
  public var threshold: Int64? = 1024 * 1024
  /// The most bytes of a request's body, for a proxy on the way that takes no more; more than 0. Without it only the
  /// server's own limit counts. A piece that is refused as too large is tried again in halves all the same.
  public var maximumRequestBody: Int64?
  /// How long a piece takes on the line as it is, in seconds: as long as that may be what a break costs behind a proxy
  /// that hands requests on only when they are whole. Pieces grow and shrink accordingly, from 64 KiB to 16 MiB.
  public var pieceSeconds: Double = 5

  /// The defaults above.
  public init() {}

  /// Whether a bundle of `size` bytes is to be sent so.
  func applies(to size: Int64) -> Bool {
    size >= threshold ?? .max || size > maximumRequestBody ?? .max
  }
}
