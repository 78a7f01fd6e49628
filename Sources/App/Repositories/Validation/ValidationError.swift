public import Foundation

/// A change that was discarded because validators objected. Nothing has changed, in memory or on the disk.
public struct ValidationError: Error, Sendable, CustomStringConvertible {
  /// What was being done, as `update` was told, or the name of the function that called it.
  public let action: String
  /// What is wrong, in the validators' own words; the first ``Validation/problemLimit``.
  public let problems: [ValidationProblem]
  /// How much is wrong.
  public let problemCount: Int
  private let snapshot: @Sendable () -> Data

  init(action: String, _ validation: Validation, snapshot: @escaping @Sendable () -> Data) {
    self.action = action
    problems = validation.problems
    problemCount = validation.problemCount
    self.snapshot = snapshot
  }

  /// The value that was refused, whole, for the bug report: JSON where its type is `Encodable`, else a description of
  /// all its parts. Made when it is asked for. It is the user's data: redact it where it leaves the device.
  public func makeSnapshot() -> Data { snapshot() }

  /// The action and all problems in one line, for logs and people.
  public var description: String {
    let more = problemCount > problems.count ? "; and \(problemCount - problems.count) more" : ""
    return "‘\(action)’ was refused: " + problems.map(\.description).joined(separator: "; ") + more
  }
}

extension ValidationError: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }
}
