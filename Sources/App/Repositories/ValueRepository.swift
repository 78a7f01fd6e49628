public import Foundation

/// A thread-safe repository of one value that is always there, such as settings with defaults.
///
///     let settings = ValueRepository(Settings(), storage: FileStorage(file: folder.appending(path: "settings.json")))
///     try settings.update { copy in copy.theme = "dark" }
///
/// ``SingleRepository`` holds a value that can be missing. `Value` should be a struct; it needs to be `Codable` only if
/// it is stored in a file. **Guarantees** of all repositories:
/// - A read never waits for a change or a validator, and returns a complete value, never a partial change.
/// - Changes are serialized; each one starts from the result of the one before it, so that no change is lost.
/// - A change that is rejected, or whose closure throws, changes nothing in memory or on disk.
/// - The storage determines when a commit is durable and how a full disk is handled: see ``InMemoryStorage``,
///   ``FileStorage`` and ``InMemoryStorageWithFilePersistence``.
/// - A file that can't be read now, as on a locked device, is never overwritten. Every access tries to read it again;
///   until then the repository shows its initial value (``SingleRepository``: none, ``CollectionRepository``: no
///   models), changes throw ``RepositoryError/Code/unreadable``, and `load()` reports the reason.
///
/// Only one repository at a time can use a file: create one and pass it on. Two of them do not see each other's changes,
/// and the file contains the value of the last commit.
///
/// A subclass adds methods; it can't override those of the repository. It repeats `@unchecked Sendable`, and stored
/// properties that it adds must be safe to use from any thread.
open class ValueRepository<Value: Sendable>: @unchecked Sendable {
  // Invariant: both properties are constant and `Sendable`. Only because the class is open, the compiler can't check it.
  private let core: RepositoryCore<Value>
  private let storage: any RepositoryStorage<Value>

  /// Loads the value from `storage`, or starts with `initial` if there is none.
  ///
  /// The validators do not check the loaded value: rules can have become stricter since it was stored, and the app has
  /// to start. Call ``validateUserData()`` to check it.
  /// - Parameters:
  ///   - initial: the value until one is committed.
  ///   - storage: where the value is stored.
  ///   - validators: check every change.
  public init(
    _ initial: Value, storage: some RepositoryStorage<Value>, validators: [Validator<Value>] = []
  ) {
    self.storage = storage
    core = RepositoryCore(
      placeholder: initial, validators: validators,
      load: { () throws(RepositoryError) in try storage.load { _ in } ?? initial },
      save: { (value) throws(RepositoryError) in try storage.save(value) })
  }

  /// Starts with `initial` and keeps the value in memory only; `Value` does not need to be `Codable`.
  public convenience init(_ initial: Value, validators: [Validator<Value>] = []) {
    self.init(initial, storage: InMemoryStorage(), validators: validators)
  }

  /// Reads the stored value, if that was not possible before.
  /// - Throws: ``RepositoryError/Code/unreadable`` if a file exists and can't be read (never because it is corrupt, or
  ///   of an older or newer schema). The file is unchanged; try again later.
  public func load() throws(RepositoryError) { try core.load() }

  /// The last committed value.
  public var value: Value { core.value }

  /// The current value, and the value after each later commit, until the repository is deinitialized.
  ///
  /// Each access creates an independent sequence for one loop. The sequence buffers only the newest value: a slow
  /// observer misses intermediate values, but always receives the latest one. Values arrive in commit order; rejected
  /// values never do. A commit that changes nothing is delivered as well.
  public var values: AsyncStream<Value> { core.values { $0 } }

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
    _ action: String = #function, _ change: (inout Value) throws -> Result
  ) throws -> Result {
    try core.update(action, change) { reportData(of: $0) }
  }

  /// Adds a validator that checks every later change.
  public func register(_ validator: Validator<Value>) { core.register(validator) }

  /// Returns the validators' problems with the current value; empty if it is valid.
  public func validateUserData() -> [ValidationProblem] { validateUserData(value) }

  /// Returns the validators' problems with `candidate`, for a form that checks its input before it saves.
  public func validateUserData(_ candidate: Value) -> [ValidationProblem] {
    core.validation(of: candidate).problems
  }

  /// Returns the value for a bug report: JSON if `Value` is `Encodable`, otherwise a description of all its properties.
  public func makeSnapshot() -> Data { reportData(of: value) }

  /// Waits until the storage has stored every earlier commit.
  /// - Throws: ``RepositoryError`` if that is not possible now. The value stays in memory, and the storage tries again.
  public func flush() async throws(RepositoryError) { try await storage.flush() }
}
