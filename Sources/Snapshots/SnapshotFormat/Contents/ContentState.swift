/// What the contents of a recording are, and what is wrong with them.
public struct ContentState: Hashable, Sendable {
  /// The kind of contents, judged by the first bytes.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case json
    /// Several JSON documents, one after the other.
    case jsonLines
    case propertyList
    case html, xml, image, text, binary, empty
  }

  /// The kind of contents.
  public var kind: Kind
  /// What is wrong with them; `nil` if nothing was found.
  public var problem: RecordingProblem?
  /// The number of places that redaction replaced, as far as its placeholders are visible.
  public var redactedPlaces: Int

  /// Creates a state.
  public init(_ kind: Kind, problem: RecordingProblem? = nil, redactedPlaces: Int = 0) {
    self.kind = kind
    self.problem = problem
    self.redactedPlaces = redactedPlaces
  }
}
