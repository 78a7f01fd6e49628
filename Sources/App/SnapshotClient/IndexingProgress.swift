/// How far a server's catalogue is.
public struct IndexingProgress: Decodable, Sendable, Hashable {
  /// What the catalogue does.
  public enum Status: String, Decodable, Sendable {
    /// It answers lists.
    case ready
    /// It is being made anew.
    case indexing
  }

  /// What the catalogue does.
  public let status: Status
  /// The share that is done, from 0 to 1, while it is being made anew.
  public let share: Double?
  /// How many records are in it already.
  public let records: Int?
}
