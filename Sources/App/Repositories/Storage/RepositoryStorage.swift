/// The place where a repository stores its value.
///
/// The repository calls ``load(_:)`` until it does not throw, and then ``save(_:)`` for each commit, one call at a time. A
/// ``CollectionRepository`` calls ``load(undecoded:_:)`` and ``save(_:undecoded:)`` instead; by default they do the same.
public protocol RepositoryStorage<Value>: Sendable {
  /// The stored value: a model, an optional model, or an array of models.
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

  /// Returns this storage as a type that names only its value, for properties and parameters.
  public func toAny() -> AnyRepositoryStorage<Value> { AnyRepositoryStorage(self) }
}

/// A storage of any type, with its guarantees; see ``RepositoryStorage/toAny()``.
public struct AnyRepositoryStorage<Value: Sendable>: RepositoryStorage {
  private let storage: any RepositoryStorage<Value>

  /// Wraps a storage.
  public init(_ storage: some RepositoryStorage<Value>) { self.storage = storage }

  /// Loads from the wrapped storage.
  public func load(_ check: (Value) throws -> Void) throws(RepositoryError) -> Value? {
    try storage.load(check)
  }

  /// Saves in the wrapped storage.
  public func save(_ value: Value) throws(RepositoryError) { try storage.save(value) }

  /// Loads from the wrapped storage.
  public func load(
    undecoded: inout [UndecodedElement], _ check: (Value) throws -> Void
  ) throws(RepositoryError) -> Value? {
    try storage.load(undecoded: &undecoded, check)
  }

  /// Saves in the wrapped storage.
  public func save(_ value: Value, undecoded: [UndecodedElement]) throws(RepositoryError) {
    try storage.save(value, undecoded: undecoded)
  }

  /// Waits for the wrapped storage.
  public func flush() async throws(RepositoryError) { try await storage.flush() }
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
