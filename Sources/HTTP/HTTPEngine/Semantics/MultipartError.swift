/// Why a form is refused.
public enum MultipartError: Error, Sendable, Hashable, CustomStringConvertible {
  /// `Content-Type` has no boundary of 1 to 70 of the characters that RFC 2046 §5.1.1 allows.
  case boundary
  /// The body ends before its last boundary.
  case truncated
  /// Something other than a line end follows a boundary.
  case boundaryLine
  /// A part's head breaks the grammar of fields.
  case head
  /// A part has no `Content-Disposition: form-data` with a name.
  case disposition
  /// There are more parts than the limit.
  case tooManyParts(limit: Int)
  /// A part's head is longer than the limit, in bytes.
  case headTooLong(limit: Int)
  /// More than the limit, in bytes, stands outside of the parts.
  case paddingTooLong(limit: Int)
  /// The value of a field is longer than the limit, in bytes.
  case fieldTooLong(name: String, limit: Int)

  /// One sentence.
  public var description: String {
    switch self {
    case .boundary: "Content-Type names no valid boundary for the parts of the form."
    case .truncated: "The form ends before its last boundary."
    case .boundaryLine: "A boundary of the form is not followed by the end of its line."
    case .head: "The head of a part of the form is malformed."
    case .disposition: "A part of the form has no Content-Disposition: form-data with a name."
    case .tooManyParts(let limit): "The form has more than \(limit) parts."
    case .headTooLong(let limit): "The head of a part of the form is longer than \(limit) bytes."
    case .paddingTooLong(let limit): "The form has more than \(limit) bytes outside of its parts."
    case .fieldTooLong(let name, let limit): "The field ‘\(name)’ of the form is longer than \(limit) bytes."
    }
  }
}
