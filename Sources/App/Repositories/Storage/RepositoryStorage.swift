/// The place where a repository stores its value.
///
/// The repository calls ``load(_:)`` once, and then ``save(_:)`` for each commit, one call at a time. A
/// ``CollectionRepository`` calls ``load(undecoded:_:)`` and ``save(_:undecoded:)`` instead; by default they do the same.
public protocol RepositoryStorage<Value>: Sendable {
  /// The stored value: a model, or an array of models.
  associatedtype Value: Sendable

  /// Loads the stored value, or returns `nil` if there is none.
  /// - Parameter check: throws if the value is invalid; the storage then sets the value aside and returns `nil`.
  /// - Throws: ``RepositoryError/Code/unreadable`` if a stored value exists but can't be read now.
  func load(_ check: (Value) throws -> Void) throws(RepositoryError) -> Value?

  /// Stores a committed value. If it throws, the commit fails and the previously stored value remains.
  func save(_ value: Value) throws(RepositoryError)

  /// Loads a stored array of models, or returns `nil` if there is none. Elements that can't be decoded do not prevent
  /// that the others are loaded.
  /// - Parameters:
  ///   - undecoded: receives the elements that can't be decoded, to be passed to ``save(_:undecoded:)``.
  ///   - check: throws if the value is invalid; the storage then sets the value aside and returns `nil`.
  /// - Throws: ``RepositoryError/Code/unreadable`` if a stored value exists but can't be read now.
  func load(
    undecoded: inout [UndecodedElement], _ check: (Value) throws -> Void
  ) throws(RepositoryError) -> Value?

  /// Stores a committed array, and the elements that ``load(undecoded:_:)`` could not decode.
  func save(_ value: Value, undecoded: [UndecodedElement]) throws(RepositoryError)

  /// Waits until every value saved before is stored.
  func flush() async throws(RepositoryError)
}

extension RepositoryStorage {
  /// Loads the whole value: one element that can't be decoded prevents that the others are loaded.
  public func load(
    undecoded: inout [UndecodedElement], _ check: (Value) throws -> Void
  ) throws(RepositoryError) -> Value? {
    try load(check)
  }

  /// Stores the value.
  public func save(_ value: Value, undecoded: [UndecodedElement]) throws(RepositoryError) { try save(value) }

  /// Returns immediately; for storages without asynchronous writes.
  public func flush() async throws(RepositoryError) {}
}

/// Stores nothing; the value exists only in the repository's memory. `Value` does not need to be `Codable`.
public struct InMemoryStorage<Value: Sendable>: RepositoryStorage {
  /// Creates a storage without a file.
  public init() {}

  /// Returns `nil`.
  public func load(_ check: (Value) throws -> Void) throws(RepositoryError) -> Value? { nil }

  /// Does nothing: the repository holds the value.
  public func save(_ value: Value) throws(RepositoryError) {}
}
