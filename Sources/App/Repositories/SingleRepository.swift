public import Foundation

/// One value of plain domain data: read, changed and observed from any thread.
///
///     let profile = try SingleRepository(Profile(), storage: FileStorage(file: folder.appending(path: "profile.json")))
///     try profile.update { copy in copy.name = "Ada" }
///
/// `Model` is best a struct; `Codable` is needed only where a file is. **What holds:**
/// - A read never waits for a change, a validator or the disk, and sees a whole value, never half a change.
/// - Changes happen one after the other, each on the value that the one before it left: none is lost.
/// - A change that is refused, or whose closure throws, leaves everything as it was, in memory and on the disk.
/// - Where a commit lasts, and what a full disk means, is the storage's promise: see ``InMemoryStorage``,
///   ``FileStorage`` and ``InMemoryStorageWithFilePersistence``.
///
/// One repository at a time uses a file.
public final class SingleRepository<Model: Sendable>: Sendable {
  private let core: RepositoryCore<Model>
  private let storage: any RepositoryStorage<Model>

  /// Goes on with what is in `storage`, or begins with `initial` where there is nothing.
  ///
  /// What is loaded is not judged by the validators: rules may have become stricter since it was stored, and the app
  /// has to start. ``validateUserData()`` tells.
  /// - Throws: ``RepositoryError/Code/unreadable`` where a file is there and can't be read (never for one that is
  ///   corrupt, older or newer). The file is not touched then: try again later.
  public init(
    _ initial: Model, storage: some RepositoryStorage<Model>, validators: [Validator<Model>] = []
  ) throws(RepositoryError) {
    let value = try storage.load { _ in } ?? initial
    self.storage = storage
    core = RepositoryCore(value, validators: validators) { value throws(RepositoryError) in
      try storage.save(value)
    }
  }

  /// Begins with `initial`, in memory alone; `Model` needs no `Codable`.
  public init(
    _ initial: Model, storage: InMemoryStorage<Model> = InMemoryStorage(), validators: [Validator<Model>] = []
  ) {
    self.storage = storage
    core = RepositoryCore(initial, validators: validators) { _ in }
  }

  /// What was committed last.
  public var value: Model { core.value }

  /// The current value, then what each later commit made of it, for as long as the repository lives.
  ///
  /// Each use makes a sequence of its own, for one loop. It holds at most one value that was not fetched yet: a slow
  /// observer misses some between, but always gets the newest, in the order of the commits, and never one that was
  /// refused. A commit that changes nothing is shown as well.
  public var values: AsyncStream<Model> { core.values { $0 } }

  /// Changes a copy of the value; if no validator objects, the copy takes the value's place.
  ///
  /// The closure may read this repository (and sees the old value), but not update it.
  /// - Parameters:
  ///   - action: what is being done, for the error; without it the name of the calling function.
  ///   - change: changes the copy. What it throws is thrown on, and the copy discarded.
  /// - Throws: ``ValidationError`` where a validator objects; ``RepositoryError`` where the storage can't keep it, or
  ///   the call is inside another update; what `change` throws. Nothing has changed then.
  @discardableResult
  public func update<Result>(
    _ action: String = #function, _ change: (inout Model) throws -> Result
  ) throws -> Result {
    try core.update(action, change) { reportData(of: $0) }
  }

  /// Lets `validator` look at every later change.
  public func register(_ validator: Validator<Model>) { core.register(validator) }

  /// What the validators say about the current value; empty where it is fine.
  public func validateUserData() -> [ValidationProblem] { validateUserData(value) }

  /// What the validators would say about `candidate`, for a form that wants to know before it saves.
  public func validateUserData(_ candidate: Model) -> [ValidationProblem] {
    core.validation(of: candidate).problems
  }

  /// The current value for a bug report: JSON where `Model` is `Encodable`, else a description of all its parts.
  public func makeSnapshot() -> Data { reportData(of: value) }

  /// Waits until everything that was committed before is where the storage keeps it.
  /// - Throws: ``RepositoryError`` where that can't be done now; memory goes on, and the storage tries again.
  public func flush() async throws(RepositoryError) { try await storage.flush() }
}
