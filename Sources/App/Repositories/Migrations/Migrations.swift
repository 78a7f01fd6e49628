/// The way from every older schema of a file to the one that the app has now: a chain of steps, each from one version
/// to the next.
///
///     let migrations: Migrations = [
///       .rename("name", to: "title"),                       // 1 → 2
///       .rename("title", to: "headline"),                   // 2 → 3
///       .step("a price has a currency") { tree in           // 3 → 4
///         tree["price"] = ["amount": tree["price"] ?? 0, "currency": "EUR"]
///       },
///     ]
///
/// The schema's version is the number of steps and one: it can't be wrong, skipped or forgotten. A step works on the
/// JSON as the older app wrote it, never on today's types, so that it does the same for ever: **a step that was
/// shipped is never changed; what comes later is added at the end.**
///
/// What a storage does with its file when it is opened:
/// - **Older:** all steps from the file's version on are applied, one by one, in memory; then the file is replaced in
///   one step. A crash at any point leaves the old file or the new one.
/// - **Newer** (the app was rolled back): the file is set aside unread as `….version-N`, and the app goes on with the
///   newest file that was set aside and that it can read, or anew. When the app is newer again, that file comes back,
///   and the one of the older app is set aside in its turn. Nothing is destroyed.
/// - **Corrupt**, or a step throws: it is set aside as `….corrupt-N`, with its reason beside it, and the app goes on as
///   with no file.
public struct Migrations: Sendable, ExpressibleByArrayLiteral {
  /// The oldest version that a file may have.
  public let oldestVersion: Int
  /// The first one goes from ``oldestVersion`` to the next.
  public let steps: [Migration]

  /// The version of the files that are written.
  public var version: Int { oldestVersion + steps.count }

  /// A chain of steps.
  /// - Parameters:
  ///   - steps: in the order in which they were shipped.
  ///   - oldestVersion: the version from which the first step goes; more than 1 once the first steps are not wanted
  ///     any more, and never less.
  public init(_ steps: [Migration], oldestVersion: Int = 1) {
    self.steps = steps
    self.oldestVersion = max(1, oldestVersion)
  }

  /// A chain of steps from version 1.
  public init(arrayLiteral steps: Migration...) { self.init(steps) }

  /// Applies the steps from `version` on, one by one.
  ///
  /// For tests of migrations with files as older apps wrote them; storages do this by themselves.
  public func migrate(_ tree: JSONTree, from version: Int) throws(MigrationError) -> JSONTree {
    guard version >= oldestVersion, version <= self.version else {
      throw MigrationError(
        from: version, step: nil, reason: "the steps go from \(oldestVersion) to \(self.version)")
    }
    var tree = tree
    for (index, step) in steps.enumerated().dropFirst(version - oldestVersion) {
      do {
        try step.apply(&tree)
      } catch {
        throw MigrationError(from: oldestVersion + index, step: step.name, reason: "\(error)")
      }
    }
    return tree
  }
}

/// A step that could not be done.
public struct MigrationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The version from which the step goes.
  public let from: Int
  /// The step's name; `nil` where there is no such step.
  public let step: String?
  /// What was wrong.
  public let reason: String

  /// One line.
  public var description: String {
    step.map { "migration \(from) → \(from + 1) (\($0)): \(reason)" }
      ?? "no migration from \(from): \(reason)"
  }
}
