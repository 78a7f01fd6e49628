/// Something that is wrong with a value.
public struct ValidationProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// Where, such as `trips[3].dates`; empty where it is about the whole value.
  public let path: String
  /// What, in the validator's own words.
  public let words: String

  /// Both in one line.
  public var description: String { path.isEmpty ? words : "\(path): \(words)" }
}

/// One pass of validators over a value: collects what they find, and knows where they are.
public struct Validation: Sendable {
  /// The most problems that are kept; further ones are counted.
  public static let problemLimit = 100

  /// What was found, in the order in which it was found; the first ``problemLimit``.
  public private(set) var problems: [ValidationProblem] = []
  /// How much was found.
  public private(set) var problemCount = 0
  private var path: [String] = []

  init() {}

  /// Whether nothing was found.
  public var isPassed: Bool { problemCount == 0 }

  /// Tells that something is wrong at the current place.
  /// - Parameter words: what; an app may show them to the user.
  public mutating func fail(_ words: String) {
    problemCount += 1
    guard problems.count < Self.problemLimit else { return }
    problems.append(ValidationProblem(path: joinedPath, words: words))
  }

  /// Runs `body` for a part of the value.
  /// - Parameter name: the part's name, or an index as `[3]`.
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
