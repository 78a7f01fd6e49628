/// Migrations from every older schema of a file to the current schema: a chain of steps, each from one version to the
/// next.
///
///     let migrations: Migrations = [
///       .rename("name", to: "title"),                       // 1 → 2
///       .rename("title", to: "headline"),                   // 2 → 3
///       .step("a price has a currency") { tree in           // 3 → 4
///         tree["price"] = ["amount": tree["price"] ?? 0, "currency": "EUR"]
///       },
///     ]
///
/// The current schema version is the number of steps plus one, so that it always matches the steps. A step works on the
/// JSON that the older app wrote, never on current types, so that its result never changes: **never change a step that
/// was shipped; append new steps.**
///
/// When a storage opens its file, it compares the schema versions:
/// - **Older:** all steps from the file's version on are applied in memory, in order; then the file is replaced
///   atomically. After a crash at any point, the file has the old or the new contents.
/// - **Newer** (the app was rolled back): the file is renamed to `….version-N`. The app continues with a file that was
///   set aside and that it can read, or starts empty. After the next upgrade, the file is moved back if the older app has
///   written nothing; otherwise the storage decides between the two values: see ``RollbackConflict``. Both are kept.
/// - **Not decodable**, because a migration is missing or throws: the file is renamed to `….undecoded-N`, a second file
///   contains the reason, and the app continues as if no file existed. Every later version tries it again. When one can
///   decode the file, it is moved back, and the file that was used since then is set aside as `….version-N`. The
///   elements of a ``CollectionRepository`` are read one by one: those that can't be decoded remain in the file.
/// - **Corrupt**, that is, not JSON or not the file of a repository: the file is renamed to `….corrupt-N`, a second file
///   contains the reason, and the app continues as if no file existed.
public struct Migrations: Sendable, ExpressibleByArrayLiteral {
  /// The oldest schema version that can be migrated.
  public let oldestVersion: Int
  /// The steps in order. The first one migrates from ``oldestVersion`` to the next version.
  public let steps: [Migration]

  /// The current schema version, with which files are written.
  public var version: Int { oldestVersion + steps.count }

  /// Creates a chain of steps.
  /// - Parameters:
  ///   - steps: the steps in the order in which they were shipped.
  ///   - oldestVersion: the version from which the first step migrates; at least 1. Increase it when you drop the first
  ///     steps.
  public init(_ steps: [Migration], oldestVersion: Int = 1) {
    self.steps = steps
    self.oldestVersion = max(1, oldestVersion)
  }

  /// Creates a chain of steps from version 1.
  public init(arrayLiteral steps: Migration...) { self.init(steps) }

  /// Applies the steps from `version` on, in order.
  ///
  /// Storages migrate their files automatically. Call this in tests that migrate files of older apps.
  public func migrate(_ tree: JSONTree, from version: Int) throws(MigrationError) -> JSONTree {
    guard version >= oldestVersion, version <= self.version else {
      throw MigrationError(
        from: version, step: nil, reason: "only versions \(oldestVersion) to \(self.version) can be migrated")
    }
    var tree = tree
    for version in version..<self.version { tree = try migrateOnce(tree, from: version) }
    return tree
  }

  /// Applies the step from `version` to the next one.
  func migrateOnce(_ tree: JSONTree, from version: Int) throws(MigrationError) -> JSONTree {
    guard version >= oldestVersion, version < self.version else {
      throw MigrationError(
        from: version, step: nil, reason: "only versions \(oldestVersion) to \(self.version) can be migrated")
    }
    let step = steps[version - oldestVersion]
    var tree = tree
    do {
      try step.apply(&tree)
    } catch {
      throw MigrationError(from: version, step: step.name, reason: "\(error)")
    }
    return tree
  }

  /// Whether the step from `version` changes each element of an array on its own.
  func isElementwise(from version: Int) -> Bool { steps[version - oldestVersion].isElementwise }
}

/// A migration step that failed.
public struct MigrationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The version from which the step migrates.
  public let from: Int
  /// The step's name; `nil` if there is no such step.
  public let step: String?
  /// A description of the failure.
  public let reason: String

  /// The versions, the step and the reason in one line.
  public var description: String {
    step.map { "migration \(from) → \(from + 1) (\($0)): \(reason)" }
      ?? "no migration from \(from): \(reason)"
  }
}

/// One step from a schema to the next.
public struct Migration: Sendable {
  /// A short description of the step for errors.
  public let name: String
  let apply: @Sendable (inout JSONTree) throws -> Void
  /// Whether it changes each element of an array on its own, and keeps their number and order.
  private(set) var isElementwise = false

  /// A step that changes the JSON of a whole file: of the model, or of the array of all models.
  ///
  /// If the closure throws, the value can't be decoded, and the error is part of the recorded reason. For an array, it
  /// is called again for each element alone, and then without those elements for which it throws.
  public static func step(
    _ name: String, _ apply: @escaping @Sendable (inout JSONTree) throws -> Void
  ) -> Migration {
    Migration(name: name, apply: apply)
  }

  /// Renames a property. A missing property is not an error, because it can be optional; an existing property with the
  /// new name is.
  public static func rename(_ old: String, to new: String) -> Migration {
    step("rename \(old) to \(new)") { tree in
      guard let value = try tree.property(old) else { return }
      guard try tree.property(new) == nil else {
        throw JSONTree.Mismatch(reason: "a property ‘\(new)’ already exists")
      }
      tree[old] = nil
      tree[new] = value
    }
  }

  /// Adds a property, unless it already exists.
  public static func add(_ property: String, _ value: JSONTree) -> Migration {
    step("add \(property)") { tree in
      if try tree.property(property) == nil { tree[property] = value }
    }
  }

  /// Removes a property if it exists.
  public static func remove(_ property: String) -> Migration {
    step("remove \(property)") { tree in
      if try tree.property(property) != nil { tree[property] = nil }
    }
  }

  /// Applies `step` to each element of an array, such as each model of a ``CollectionRepository``.
  public static func each(_ step: Migration) -> Migration {
    var each = Migration.step("each: \(step.name)") { tree in
      guard case .array(var elements) = tree else {
        throw JSONTree.Mismatch(reason: "\(tree.kind) is not an array")
      }
      for index in elements.indices {
        do { try step.apply(&elements[index]) } catch {
          throw JSONTree.Mismatch(reason: "[\(index)]: \(error)")
        }
      }
      tree = .array(elements)
    }
    each.isElementwise = true
    return each
  }

  /// Applies `step` to the value of a property, if it exists.
  public static func at(_ property: String, _ step: Migration) -> Migration {
    Migration.step("\(property): \(step.name)") { tree in
      guard var value = try tree.property(property) else { return }
      try step.apply(&value)
      tree[property] = value
    }
  }
}
