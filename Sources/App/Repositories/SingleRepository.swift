public import Foundation

/// A thread-safe repository of one model that can be missing, such as the profile of the user who is signed in.
///
///     public final class ProfileRepository: SingleRepository<ProfileModel>, @unchecked Sendable {
///       public init() { super.init(storage: InMemoryStorageWithFilePersistence().toAny()) }
///     }
///
///     try profile.put(ProfileModel(name: "Ada"))
///     try profile.update { copy in copy.name = "Ada Lovelace" }
///     print(profile.value?.name ?? "signed out")
///
/// All guarantees of ``ValueRepository`` hold; it holds a value that is always there.
open class SingleRepository<Model: Sendable>: @unchecked Sendable {
  // Invariant: both properties are constant and `Sendable`. Only because the class is open, the compiler can't check it.
  private let core: RepositoryCore<Model?>
  private let storage: any RepositoryStorage<Model?>

  /// Loads the model from `storage`, or starts without one.
  ///
  /// The validators do not check the loaded model; call ``validateUserData()`` to check it.
  /// - Parameters:
  ///   - storage: where the model is stored.
  ///   - validators: check every model that is committed.
  public init(storage: some RepositoryStorage<Model?>, validators: [Validator<Model>] = []) {
    self.storage = storage
    core = RepositoryCore(
      placeholder: nil, validators: validators.map { .ifPresent($0) },
      load: { () throws(RepositoryError) in try storage.load { _ in } ?? nil },
      save: { (model) throws(RepositoryError) in try storage.save(model) })
  }

  /// Starts without a model and keeps it in memory only; `Model` does not need to be `Codable`.
  public convenience init(validators: [Validator<Model>] = []) {
    self.init(storage: InMemoryStorage(), validators: validators)
  }

  /// Reads the stored model, if that was not possible before.
  /// - Throws: ``RepositoryError/Code/unreadable``, as described for ``ValueRepository/load()``.
  public func load() throws(RepositoryError) { try core.load() }

  // MARK: - Reading

  /// The last committed model; `nil` if there is none.
  public var value: Model? { core.value }

  /// The model now, and again after each commit; ``ValueRepository/values`` describes the guarantees.
  public var values: AsyncStream<Model?> { core.values { $0 } }

  // MARK: - Changing

  /// Stores a model, and replaces the one that is there.
  /// - Throws: ``ValidationError`` if a validator rejects the model; ``RepositoryError`` if the storage can't save it, or
  ///   if the call is inside an update. Nothing has changed then.
  public func put(_ model: Model, action: String = #function) throws {
    try commit(action) { $0 = model }
  }

  /// Changes a copy of the model; if no validator rejects it, the copy replaces the model. If this method throws,
  /// nothing has changed.
  ///
  /// The closure can read this repository, and gets the old model, but must not update it.
  /// - Parameters:
  ///   - action: names the operation in errors; the calling function's name by default.
  ///   - change: changes the copy. If it throws, the copy is discarded and the error is rethrown.
  /// - Throws: ``RepositoryError/Code/notFound`` if there is no model; otherwise the errors of ``put(_:action:)``, and
  ///   any error of `change`.
  @discardableResult
  public func update<Result>(
    _ action: String = #function, _ change: (inout Model) throws -> Result
  ) throws -> Result {
    try commit(action) { model in
      guard var copy = model else { throw RepositoryError(.notFound, "the repository has no model") }
      let result = try change(&copy)
      model = copy
      return result
    }
  }

  /// Removes the model.
  /// - Returns: the removed model; `nil` if there was none, which is not an error.
  @discardableResult
  public func remove(action: String = #function) throws -> Model? {
    try commit(action) { model in
      defer { model = nil }
      return model
    }
  }

  private func commit<Result>(
    _ action: String, _ change: (inout Model?) throws -> Result
  ) throws -> Result {
    try core.update(action, change) { reportData(of: $0) }
  }

  // MARK: - Validation

  /// Adds a validator that checks every model that is committed later.
  public func register(_ validator: Validator<Model>) { core.register(.ifPresent(validator)) }

  /// Returns the validators' problems with the current model; empty if it is valid, or if there is none.
  public func validateUserData() -> [ValidationProblem] { core.validation(of: core.value).problems }

  /// Returns the validators' problems with `candidate`, for a form that checks its input before it saves.
  public func validateUserData(_ candidate: Model) -> [ValidationProblem] {
    core.validation(of: candidate).problems
  }

  // MARK: -

  /// Returns the model for a bug report: JSON if `Model` is `Encodable`, otherwise a description of all its properties.
  public func makeSnapshot() -> Data { reportData(of: value) }

  /// Waits until the storage has stored every earlier commit.
  /// - Throws: ``RepositoryError`` if that is not possible now. The model stays in memory, and the storage tries again.
  public func flush() async throws(RepositoryError) { try await storage.flush() }
}
