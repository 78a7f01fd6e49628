public import Foundation

/// Many models by their ids: read, changed and observed from any thread.
///
///     let trips = try CollectionRepository<Trip>(
///       storage: InMemoryStorageWithFilePersistence(file: folder.appending(path: "trips.json")))
///     try trips.insert(Trip(id: 7, name: "Coast"))
///     try trips.update(7) { copy in copy.name = "West coast" }
///
/// Models stand in the order in which they were inserted, in memory, in the file and to observers; a change keeps
/// its model's place. Everything that ``SingleRepository`` promises holds here for the collection as a whole.
/// A commit takes time in proportion to the number of models: good for tens of thousands, not for millions.
public final class CollectionRepository<Model: Identifiable & Sendable>: Sendable where Model.ID: Sendable {
  private let core: RepositoryCore<ModelTable<Model>>
  private let storage: any RepositoryStorage<[Model]>

  /// Goes on with what is in `storage`, or begins empty. A file in which two models have one id counts as corrupt.
  ///
  /// What is loaded is not judged by the validators; ``validateUserData()`` tells.
  /// - Throws: ``RepositoryError/Code/unreadable`` where a file is there and can't be read (never for one that is
  ///   corrupt, older or newer). The file is not touched then: try again later.
  public init(
    storage: some RepositoryStorage<[Model]>, validators: [Validator<[Model]>] = []
  ) throws(RepositoryError) {
    var table = ModelTable<Model>()
    if let models = try storage.load({ _ = try ModelTable($0) }) { table = try ModelTable(models) }
    self.storage = storage
    core = RepositoryCore(table, validators: validators.map(Self.onTable)) { table throws(RepositoryError) in
      try storage.save(table.models)
    }
  }

  /// Begins empty, in memory alone; `Model` needs no `Codable`.
  public init(storage: InMemoryStorage<[Model]> = InMemoryStorage(), validators: [Validator<[Model]>] = []) {
    self.storage = storage
    core = RepositoryCore(ModelTable(), validators: validators.map(Self.onTable)) { _ in }
  }

  // MARK: - Reading

  /// All models, in their order.
  public var all: [Model] { core.value.models }

  /// How many there are.
  public var count: Int { core.value.models.count }

  /// The model with this id.
  public func find(_ id: Model.ID) -> Model? { core.value[id] }

  /// The models for which `isWanted` holds, in their order.
  public func find(where isWanted: (Model) throws -> Bool) rethrows -> [Model] { try all.filter(isWanted) }

  /// All models as they are, then as each later commit left them; see ``SingleRepository/values`` for what holds.
  public var values: AsyncStream<[Model]> { core.values(\.models) }

  // MARK: - Changing

  /// Adds models at the end, all or none.
  /// - Throws: ``RepositoryError/Code/duplicateID`` where an id is taken; else as `update(_:_:)` of the whole collection.
  public func insert(_ models: Model..., action: String = #function) throws {
    try insert(contentsOf: models, action: action)
  }

  /// Adds models at the end, all or none.
  /// - Throws: ``RepositoryError/Code/duplicateID`` where an id is taken; else as `update(_:_:)` of the whole collection.
  public func insert(contentsOf models: some Sequence<Model>, action: String = #function) throws {
    try commit(action) { table in for model in models { try table.insert(model) } }
  }

  /// Puts models in the places of those with the same ids; what is new comes at the end.
  public func put(_ models: Model..., action: String = #function) throws {
    try commit(action) { table in for model in models { table.put(model) } }
  }

  /// Changes a copy of one model; if no validator objects, it takes the model's place.
  /// - Throws: ``RepositoryError/Code/notFound`` where no model has this id, ``RepositoryError/Code/idChanged`` where
  ///   the change gave it another; else as `update(_:_:)` of the whole collection.
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

  /// Changes a copy of the whole collection, its order included, in one commit.
  /// - Parameters:
  ///   - action: what is being done, for the error; without it the name of the calling function.
  ///   - change: changes the copy. What it throws is thrown on, and the copy discarded.
  /// - Throws: ``RepositoryError/Code/duplicateID`` where two models have one id afterwards; ``ValidationError`` where
  ///   a validator objects; another ``RepositoryError`` where the storage can't keep it, or the call is inside
  ///   another update; what `change` throws. Nothing has changed then.
  @discardableResult
  public func update<Result>(
    _ action: String = #function, _ change: (inout [Model]) throws -> Result
  ) throws -> Result {
    try commit(action) { table in
      var models = table.models
      let result = try change(&models)
      table = try ModelTable(models)
      return result
    }
  }

  /// Removes the model with this id.
  /// - Returns: what was removed; `nil` where no model has the id, which is no error.
  @discardableResult
  public func remove(_ id: Model.ID, action: String = #function) throws -> Model? {
    try commit(action) { table in table.remove(id) }
  }

  /// Removes all models.
  public func removeAll(action: String = #function) throws { try commit(action) { $0 = ModelTable() } }

  private func commit<Result>(
    _ action: String, _ change: (inout ModelTable<Model>) throws -> Result
  ) throws -> Result {
    try core.update(action, change) { reportData(of: $0.models) }
  }

  // MARK: - Validation

  /// Lets `validator` look at every later change.
  public func register(_ validator: Validator<[Model]>) { core.register(Self.onTable(validator)) }

  /// What the validators say about the models as they are; empty where all is fine.
  public func validateUserData() -> [ValidationProblem] { core.validation(of: core.value).problems }

  private static func onTable(_ validator: Validator<[Model]>) -> Validator<ModelTable<Model>> {
    Validator { table, validation in validator.check(table.models, &validation) }
  }

  // MARK: -

  /// All models for a bug report: JSON where `Model` is `Encodable`, else a description of all their parts.
  public func makeSnapshot() -> Data { reportData(of: all) }

  /// Waits until everything that was committed before is where the storage keeps it.
  /// - Throws: ``RepositoryError`` where that can't be done now; memory goes on, and the storage tries again.
  public func flush() async throws(RepositoryError) { try await storage.flush() }
}
