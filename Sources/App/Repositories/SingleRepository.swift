public import Foundation

/// A thread-safe repository of one value, which can be read, changed and observed.
///
///     let profile = try SingleRepository(Profile(), storage: FileStorage(file: folder.appending(path: "profile.json")))
///     try profile.update { copy in copy.name = "Ada" }
///
/// `Model` should be a struct; it needs to be `Codable` only if it is stored in a file. **Guarantees:**
/// - A read never waits for a change, a validator or the disk, and returns a complete value, never a partial change.
/// - Changes are serialized; each one starts from the result of the one before it, so that no change is lost.
/// - A change that is rejected, or whose closure throws, changes nothing in memory or on disk.
/// - The storage determines when a commit is durable and how a full disk is handled: see ``InMemoryStorage``,
///   ``FileStorage`` and ``InMemoryStorageWithFilePersistence``.
///
/// Only one repository at a time can use a file.
public final class SingleRepository<Model: Sendable>: Sendable {
  private let core: RepositoryCore<Model>
  private let storage: any RepositoryStorage<Model>

  /// Loads the value from `storage`, or starts with `initial` if there is none.
  ///
  /// The validators do not check the loaded value: rules can have become stricter since it was stored, and the app has
  /// to start. Call ``validateUserData()`` to check it.
  /// - Throws: ``RepositoryError/Code/unreadable`` if a file exists and can't be read (never because it is corrupt, or
  ///   of an older or newer schema). The file is unchanged; try again later.
  public init(
    _ initial: Model, storage: some RepositoryStorage<Model>, validators: [Validator<Model>] = []
  ) throws(RepositoryError) {
    let value = try storage.load { _ in } ?? initial
    self.storage = storage
    core = RepositoryCore(value, validators: validators) { value throws(RepositoryError) in
      try storage.save(value)
    }
  }

  /// Starts with `initial` and keeps the value in memory only; `Model` does not need to be `Codable`.
  public init(
    _ initial: Model, storage: InMemoryStorage<Model> = InMemoryStorage(), validators: [Validator<Model>] = []
  ) {
    self.storage = storage
    core = RepositoryCore(initial, validators: validators) { _ in }
  }

  /// The last committed value.
  public var value: Model { core.value }

  /// The current value, and the value after each later commit, until the repository is deinitialized.
  ///
  /// Each access creates an independent sequence for one loop. The sequence buffers only the newest value: a slow
  /// observer misses intermediate values, but always receives the latest one. Values arrive in commit order; rejected
  /// values never do. A commit that changes nothing is delivered as well.
  public var values: AsyncStream<Model> { core.values { $0 } }

  /// Changes a copy of the value; if no validator rejects it, the copy replaces the value. If this method throws,
  /// nothing has changed.
  ///
  /// The closure can read this repository, and gets the old value, but must not update it.
  /// - Parameters:
  ///   - action: names the operation in errors; the calling function's name by default.
  ///   - change: changes the copy. If it throws, the copy is discarded and the error is rethrown.
  /// - Throws: ``ValidationError`` if a validator rejects the change; ``RepositoryError`` if the storage can't save it,
  ///   or if the call is inside another update; any error of `change`.
  @discardableResult
  public func update<Result>(
    _ action: String = #function, _ change: (inout Model) throws -> Result
  ) throws -> Result {
    try core.update(action, change) { reportData(of: $0) }
  }

  /// Adds a validator that checks every later change.
  public func register(_ validator: Validator<Model>) { core.register(validator) }

  /// Returns the validators' problems with the current value; empty if it is valid.
  public func validateUserData() -> [ValidationProblem] { validateUserData(value) }

  /// Returns the validators' problems with `candidate`, for a form that checks its input before it saves.
  public func validateUserData(_ candidate: Model) -> [ValidationProblem] {
    core.validation(of: candidate).problems
  }

  /// Returns the value for a bug report: JSON if `Model` is `Encodable`, otherwise a description of all its properties.
  public func makeSnapshot() -> Data { reportData(of: value) }

  /// Waits until the storage has stored every earlier commit.
  /// - Throws: ``RepositoryError`` if that is not possible now. The value stays in memory, and the storage tries again.
  public func flush() async throws(RepositoryError) { try await storage.flush() }
}
