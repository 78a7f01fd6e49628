public import Foundation

/// A thread-safe collection of models with unique ids, which can be read, changed and observed.
///
///     public final class TripRepository: CollectionRepository<Trip>, @unchecked Sendable {
///       public init() { super.init(storage: InMemoryStorageWithFilePersistence().toAny()) }
///     }
///
///     try trips.insert(Trip(id: 7, name: "Coast"))
///     try trips.update(7) { copy in copy.name = "West coast" }
///
/// Models keep their insertion order in memory, in the file and for observers; a changed model keeps its position. All
/// guarantees of ``ValueRepository`` hold for the collection as a whole. A commit takes time in proportion to the
/// number of models: the collection suits tens of thousands of models, not millions.
open class CollectionRepository<Model: Identifiable & Sendable>: @unchecked Sendable
where Model.ID: Sendable {
  // Invariant: both properties are constant and `Sendable`. Only because the class is open, the compiler can't check it.
  private let core: RepositoryCore<ModelTable<Model>>
  private let storage: any RepositoryStorage<[Model]>

  /// Loads the models from `storage`, or starts empty if it contains none.
  ///
  /// Elements of a file that this version of the app can't decode are not shown, and remain in the file for a version
  /// that can; see ``Migrations``. So do those with the id of an earlier element. They are removed by
  /// ``removeAll(action:)``, and by the removal of their id, if the id is stored as the property `id`.
  ///
  /// The validators do not check the loaded models; call ``validateUserData()`` to check them.
  /// - Parameters:
  ///   - storage: where the models are stored.
  ///   - validators: check every change of the whole collection.
  public init(storage: some RepositoryStorage<[Model]>, validators: [Validator<[Model]>] = []) {
    self.storage = storage
    core = RepositoryCore(
      placeholder: ModelTable(), validators: validators.map(Self.onTable),
      load: { () throws(RepositoryError) in
        var undecoded: [UndecodedElement] = []
        let models = try storage.load(undecoded: &undecoded) { _ = try ModelTable($0) } ?? []
        return try ModelTable(models, undecoded: undecoded)
      },
      save: { (table) throws(RepositoryError) in
        try storage.save(table.models, undecoded: table.undecoded)
      })
  }

  /// Starts empty and keeps the models in memory only; `Model` does not need to be `Codable`.
  public convenience init(validators: [Validator<[Model]>] = []) {
    self.init(storage: InMemoryStorage(), validators: validators)
  }

  /// Reads the stored models, if that was not possible before.
  /// - Throws: ``RepositoryError/Code/unreadable``, as described for ``ValueRepository/load()``.
  public func load() throws(RepositoryError) { try core.load() }

  // MARK: - Reading

  /// All models, in their order.
  public var all: [Model] { core.value.models }

  /// The number of models.
  public var count: Int { core.value.models.count }

  /// Returns the model with this id, or `nil` if there is none.
  public func find(_ id: Model.ID) -> Model? { core.value[id] }

  /// Returns the models for which `isWanted` is true, in collection order.
  public func find(where isWanted: (Model) throws -> Bool) rethrows -> [Model] { try all.filter(isWanted) }

  /// All models now, and again after each commit; ``ValueRepository/values`` describes the guarantees.
  public var values: AsyncStream<[Model]> { core.values(\.models) }

  // MARK: - Changing

  /// Appends models, all or none.
  /// - Throws: ``RepositoryError/Code/duplicateID`` if an id already exists; otherwise the errors of `update(_:_:)` of
  ///   the whole collection.
  public func insert(_ models: Model..., action: String = #function) throws {
    try insert(contentsOf: models, action: action)
  }

  /// Appends models, all or none.
  /// - Throws: ``RepositoryError/Code/duplicateID`` if an id already exists; otherwise the errors of `update(_:_:)` of
  ///   the whole collection.
  public func insert(contentsOf models: some Sequence<Model>, action: String = #function) throws {
    try commit(action) { table in for model in models { try table.insert(model) } }
  }

  /// Replaces the models with the same ids, and appends the models whose ids are new.
  public func put(_ models: Model..., action: String = #function) throws {
    try commit(action) { table in for model in models { table.put(model) } }
  }

  /// Changes a copy of one model; if no validator rejects it, the copy replaces the model.
  /// - Throws: ``RepositoryError/Code/notFound`` if no model has this id, ``RepositoryError/Code/idChanged`` if the
  ///   closure changed the id; otherwise the errors of `update(_:_:)` of the whole collection.
  @discardableResult
  public func update<Result>(
    _ id: Model.ID, action: String = #function, _ change: (inout Model) throws -> Result
  ) throws -> Result {
    try commit(action) { table in
      guard var model = table[id] else { throw RepositoryError(.notFound, "no model has the id \(id)") }
      let result = try change(&model)
      guard model.id == id else { throw RepositoryError(.idChanged, "\(id) became \(model.id)") }
      table.put(model)
      return result
    }
  }

  /// Changes a copy of the whole collection, including its order, in one commit. If this method throws, nothing has
  /// changed.
  /// - Parameters:
  ///   - action: names the operation in errors; the calling function's name by default.
  ///   - change: changes the copy. If it throws, the copy is discarded and the error is rethrown.
  /// - Throws: ``RepositoryError/Code/duplicateID`` if two models have the same id afterwards; ``ValidationError`` if a
  ///   validator rejects the change; another ``RepositoryError`` if the storage can't save it, or if the call is inside
  ///   another update; any error of `change`.
  @discardableResult
  public func update<Result>(
    _ action: String = #function, _ change: (inout [Model]) throws -> Result
  ) throws -> Result {
    try commit(action) { table in
      var models = table.models
      let result = try change(&models)
      try table.replace(with: models)
      return result
    }
  }

  /// Removes the model with this id, also if this version of the app can't decode it.
  /// - Returns: the removed model; `nil` if no model has the id, which is not an error.
  @discardableResult
  public func remove(_ id: Model.ID, action: String = #function) throws -> Model? {
    try commit(action) { table in table.remove(id) }
  }

  /// Removes all models, also those that this version of the app can't decode.
  public func removeAll(action: String = #function) throws { try commit(action) { $0 = ModelTable() } }

  private func commit<Result>(
    _ action: String, _ change: (inout ModelTable<Model>) throws -> Result
  ) throws -> Result {
    try core.update(action, change) { reportData(of: $0.models) }
  }

  // MARK: - Validation

  /// Adds a validator that checks every later change.
  public func register(_ validator: Validator<[Model]>) { core.register(Self.onTable(validator)) }

  /// Returns the validators' problems with the current models; empty if all are valid.
  public func validateUserData() -> [ValidationProblem] { core.validation(of: core.value).problems }

  private static func onTable(_ validator: Validator<[Model]>) -> Validator<ModelTable<Model>> {
    Validator { table, validation in validator.check(table.models, &validation) }
  }

  // MARK: -

  /// Returns all models for a bug report: JSON if `Model` is `Encodable`, otherwise a description of all their
  /// properties.
  public func makeSnapshot() -> Data { reportData(of: all) }

  /// Waits until the storage has stored every earlier commit.
  /// - Throws: ``RepositoryError`` if that is not possible now. The models stay in memory, and the storage tries again.
  public func flush() async throws(RepositoryError) { try await storage.flush() }
}
