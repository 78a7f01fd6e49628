/// One step from a schema to the next.
public struct Migration: Sendable {
  /// What it does, in a few words, for errors.
  public let name: String
  let apply: @Sendable (inout JSONTree) throws -> Void

  /// A step that changes the tree of a whole file: of the model, or of the array of all models.
  ///
  /// What it throws goes into the reason of the file that is then set aside as corrupt.
  public static func step(
    _ name: String, _ apply: @escaping @Sendable (inout JSONTree) throws -> Void
  ) -> Migration {
    Migration(name: name, apply: apply)
  }

  /// Gives a property another name. One that is not there, as an optional one may be, is no error; a new name that is
  /// taken is one.
  public static func rename(_ old: String, to new: String) -> Migration {
    step("rename \(old) to \(new)") { tree in
      guard let value = try tree.property(old) else { return }
      guard try tree.property(new) == nil else {
        throw JSONTree.Mismatch(reason: "there is a property ‘\(new)’ already")
      }
      tree[old] = nil
      tree[new] = value
    }
  }

  /// Gives a property a value where it has none.
  public static func add(_ property: String, _ value: JSONTree) -> Migration {
    step("add \(property)") { tree in
      if try tree.property(property) == nil { tree[property] = value }
    }
  }

  /// Removes a property, if it is there.
  public static func remove(_ property: String) -> Migration {
    step("remove \(property)") { tree in
      if try tree.property(property) != nil { tree[property] = nil }
    }
  }

  /// Applies `step` to each element of an array: to each model of a ``CollectionRepository``.
  public static func each(_ step: Migration) -> Migration {
    Migration.step("each: \(step.name)") { tree in
      guard case .array(var elements) = tree else {
        throw JSONTree.Mismatch(reason: "\(tree.kind) is no array")
      }
      for index in elements.indices {
        do { try step.apply(&elements[index]) } catch {
          throw JSONTree.Mismatch(reason: "[\(index)]: \(error)")
        }
      }
      tree = .array(elements)
    }
  }

  /// Applies `step` to the value of a property, if it is there.
  public static func at(_ property: String, _ step: Migration) -> Migration {
    Migration.step("\(property): \(step.name)") { tree in
      guard var value = try tree.property(property) else { return }
      try step.apply(&value)
      tree[property] = value
    }
  }
}
