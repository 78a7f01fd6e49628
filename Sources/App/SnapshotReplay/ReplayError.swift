/// The reason why a test can't replay its fixture, or what the app asked for in vain.
public struct ReplayError: Error, Sendable, CustomStringConvertible {
  /// The kinds of reasons.
  public enum Code: String, Sendable, CaseIterable {
    /// The name can't be that of a fixture.
    case invalidName
    /// There is no fixture with this name.
    case fixtureMissing
    /// The fixture is damaged, is no snapshot, or has a newer format.
    case fixtureRefused
    /// The fixture is older than the test allows.
    case fixtureTooOld
    /// The app asked for something that is not recorded.
    case recordingMissing
  }

  /// The kind of reason.
  public let code: Code
  /// What is wrong and how to mend it, in a sentence for each problem.
  public let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }
}
