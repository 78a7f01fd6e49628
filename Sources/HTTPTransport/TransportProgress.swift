/// How far a transfer is. Never goes back.
///
/// Where the response goes to a file this is about the file: a download that goes on at an offset starts there.
/// Else it is about the request's body.
public struct TransportProgress: Sendable, Hashable {
  /// Bytes moved.
  public var completed: Int64
  /// Bytes in all, where known.
  public var total: Int64?

  /// A state of a transfer.
  public init(completed: Int64, total: Int64?) {
    self.completed = completed
    self.total = total
  }
}
