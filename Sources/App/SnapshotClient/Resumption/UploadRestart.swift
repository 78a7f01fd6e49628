/// Why an upload that was begun is given up, and begun again from its first byte: the server contradicts what is known
/// of it here.
public enum UploadRestart: Sendable, Hashable, CustomStringConvertible {
  /// The server has no such upload any more, and answered with this status.
  case lost(status: Int)
  /// The server has an upload of another length there.
  case otherLength(Int64)
  /// The server says that it has so many bytes, or is complete with so many, which can't be.
  case impossibleOffset(Int64)

  /// What the server says, as part of a sentence.
  public var description: String {
    switch self {
    case .lost(let status): "the server has no such upload any more (status \(status))"
    case .otherLength(let length): "the server has an upload of \(length) bytes in its place"
    case .impossibleOffset(let offset): "the server says that it has \(offset) bytes, which can't be"
    }
  }
}
