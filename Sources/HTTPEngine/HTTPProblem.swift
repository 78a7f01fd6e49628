public import HTTPTypes

/// An error that the client is told, as `application/problem+json` (RFC 9457).
public struct HTTPProblem: Error, Sendable {
  /// The status.
  public var status: HTTPResponse.Status
  /// An absolute URI that names the kind of problem and never changes.
  public var type: String
  /// The kind in a few words, the same every time.
  public var title: String
  /// What is wrong this time and what to do about it, for people.
  public var detail: String
  /// Fields to send along, such as `Allow` or `Retry-After`.
  public var headerFields: HTTPFields

  /// Describes a problem.
  public init(
    status: HTTPResponse.Status, type: String, title: String, detail: String, headerFields: HTTPFields = [:]
  ) {
    self.status = status
    self.type = type
    self.title = title
    self.detail = detail
    self.headerFields = headerFields
  }
}
