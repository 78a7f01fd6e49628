public import Foundation

/// A problem that a validator found in a value.
public struct ValidationProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The path of the invalid part, such as `trips[3].dates`; empty for the whole value.
  public let path: String
  /// The validator's description of the problem.
  public let words: String

  /// The path and the description in one line.
  public var description: String { path.isEmpty ? words : "\(path): \(words)" }
}

/// One pass of validators over a value. It collects problems and the paths at which they were found.
public struct Validation: Sendable {
  /// The maximum number of problems that are kept; further ones are only counted.
  public static let problemLimit = 100

  /// The first ``problemLimit`` problems, in the order in which they were found.
  public private(set) var problems: [ValidationProblem] = []
  /// The total number of problems.
  public private(set) var problemCount = 0
  private var path: [String] = []

  init() {}

  /// Whether no problem was found.
  public var isPassed: Bool { problemCount == 0 }

  /// Reports a problem at the current path.
  /// - Parameter words: a description of the problem, which an app can show to the user.
  public mutating func fail(_ words: String) {
    problemCount += 1
    guard problems.count < Self.problemLimit else { return }
    problems.append(ValidationProblem(path: joinedPath, words: words))
  }

  /// Runs `body` with the path of a part of the value. `name` is the part's name, or an index such as `[3]`.
  public mutating func enter(_ name: String, _ body: (inout Validation) -> Void) {
    path.append(name)
    body(&self)
    path.removeLast()
  }

  private var joinedPath: String {
    path.reduce(into: "") { joined, name in
      joined += joined.isEmpty || name.hasPrefix("[") ? name : ".\(name)"
    }
  }
}

/// A change that validators rejected. Nothing has changed, in memory or on disk.
public struct ValidationError: Error, Sendable, CustomStringConvertible {
  /// The action passed to `update`, or the name of the calling function.
  public let action: String
  /// The first ``Validation/problemLimit`` problems.
  public let problems: [ValidationProblem]
  /// The total number of problems.
  public let problemCount: Int
  private let snapshot: @Sendable () -> Data

  init(action: String, _ validation: Validation, snapshot: @escaping @Sendable () -> Data) {
    self.action = action
    problems = validation.problems
    problemCount = validation.problemCount
    self.snapshot = snapshot
  }

  /// Returns the whole rejected value for a bug report: JSON if its type is `Encodable`, otherwise a description of all
  /// its properties. It is encoded on each call. It contains the user's data: redact it before it leaves the device.
  public func makeSnapshot() -> Data { snapshot() }

  /// The action and the problems in one line, for people and logs.
  public var description: String {
    let more = problemCount > problems.count ? "; and \(problemCount - problems.count) more" : ""
    return "‘\(action)’ was refused: " + problems.map(\.description).joined(separator: "; ") + more
  }
}

extension ValidationError: LocalizedError {
  /// The same as ``description``.
  public var errorDescription: String? { description }
}
