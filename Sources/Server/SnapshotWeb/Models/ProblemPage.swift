/// What can't be shown, or done, and why.
package struct ProblemPage: Sendable, Hashable {
  /// HTTP's status code.
  package var status: Int
  /// What is wrong, in a few words.
  package var title: String
  /// The same in a sentence or two.
  package var detail: String
  /// The request's id, as the server's log has it.
  package var requestID: String?

  /// A page.
  package init(status: Int, title: String, detail: String, requestID: String? = nil) {
    self.status = status
    self.title = title
    self.detail = detail
    self.requestID = requestID
  }
}
