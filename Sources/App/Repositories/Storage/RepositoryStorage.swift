/// The place where a repository stores its value.
///
/// The repository calls ``load(_:)`` once, and then ``save(_:)`` for each commit, one call at a time.
public protocol RepositoryStorage<Value>: Sendable {
  /// The stored value: a model, or an array of models.
  associatedtype Value: Sendable

  /// Loads the stored value, or returns `nil` if there is none.
  /// - Parameter check: throws if the value is invalid; the storage then sets the value aside and returns `nil`.
  /// - Throws: ``RepositoryError/Code/unreadable`` if a stored value exists but can't be read now.
  func load(_ check: (Value) throws -> Void) throws(RepositoryError) -> Value?

  /// Stores a committed value. If it throws, the commit fails and the previously stored value remains.
  func save(_ value: Value) throws(RepositoryError)

  /// Waits until every value saved before is stored.
  func flush() async throws(RepositoryError)
}

extension RepositoryStorage {
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
