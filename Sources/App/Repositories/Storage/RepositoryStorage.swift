/// Where a repository keeps its value.
///
/// The repository calls ``load(_:)`` once and then ``save(_:)`` for one commit after the other, never for two at once.
public protocol RepositoryStorage<Value>: Sendable {
  /// What is kept: a model, or an array of models.
  associatedtype Value: Sendable

  /// What is kept, or `nil` where there is nothing yet.
  /// - Parameter check: throws if the value is of no use; then it is set aside, and the answer is `nil`.
  /// - Throws: ``RepositoryError/Code/unreadable`` where something is kept but can't be had now.
  func load(_ check: (Value) throws -> Void) throws(RepositoryError) -> Value?

  /// Takes what was just committed. If it throws, the commit has failed and what was kept before stays.
  func save(_ value: Value) throws(RepositoryError)

  /// Waits until everything that was saved before is where it belongs.
  func flush() async throws(RepositoryError)
}

extension RepositoryStorage {
  /// Nothing to wait for.
  public func flush() async throws(RepositoryError) {}
}

/// Keeps nothing beyond the life of the repository; needs no `Codable`.
public struct InMemoryStorage<Value: Sendable>: RepositoryStorage {
  /// A storage in memory.
  public init() {}

  /// Nothing.
  public func load(_ check: (Value) throws -> Void) throws(RepositoryError) -> Value? { nil }

  /// Does nothing: the repository holds the value.
  public func save(_ value: Value) throws(RepositoryError) {}
}
