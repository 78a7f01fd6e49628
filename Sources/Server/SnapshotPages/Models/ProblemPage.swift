/// What can't be shown, or done, and why.
public struct ProblemPage: Sendable, Hashable {
  /// HTTP's status code.
  public var status: Int
  /// What is wrong, in a few words.
  public var title: String
  /// The same in a sentence or two.
  public var detail: String
  /// The request's id, as the server's log has it.
  public var requestID: String?

  /// A page.
  public init(status: Int, title: String, detail: String, requestID: String? = nil) {
    self.status = status
    self.title = title
    self.detail = detail
    self.requestID = requestID
  }
}
