/// An ordered list of models with unique ids, and of elements that the app can't decode.
struct ModelTable<Model: Identifiable & Sendable>: Sendable where Model.ID: Sendable {
  private(set) var models: [Model] = []
  private var positions: [Model.ID: Int] = [:]
  /// The elements that can't be decoded, with the number of models before each, in order.
  private var kept: [(element: UndecodedElement, modelsBefore: Int)] = []

  init() {}

  init(_ models: [Model]) throws(RepositoryError) {
    for model in models { try insert(model) }
  }

  init(_ models: [Model], undecoded: [UndecodedElement]) throws(RepositoryError) {
    try self.init(models)
    kept = undecoded.enumerated().map { index, element in
      (element: element, modelsBefore: max(0, min(element.position - index, models.count)))
    }
  }

  /// The elements that can't be decoded, for the storage.
  var undecoded: [UndecodedElement] {
    kept.enumerated().map { index, entry in
      var element = entry.element
      element.position = entry.modelsBefore + index
      return element
    }
  }

  subscript(id: Model.ID) -> Model? { positions[id].map { models[$0] } }

  mutating func insert(_ model: Model) throws(RepositoryError) {
    guard positions[model.id] == nil else {
      throw RepositoryError(.duplicateID, "a model with the id \(model.id) already exists")
    }
    put(model)
  }

  mutating func put(_ model: Model) {
    if let position = positions[model.id] {
      models[position] = model
    } else {
      positions[model.id] = models.count
      models.append(model)
    }
  }

  /// Removes the model, and the elements with its id that can't be decoded.
  mutating func remove(_ id: Model.ID) -> Model? {
    kept.removeAll { $0.element.id?.value == AnyHashable(id) }
    guard let position = positions.removeValue(forKey: id) else { return nil }
    let model = models.remove(at: position)
    for index in models[position...].indices { positions[models[index].id] = index }
    for index in kept.indices where kept[index].modelsBefore > position { kept[index].modelsBefore -= 1 }
    return model
  }

  /// Replaces all models. The elements that can't be decoded stay behind the models that they followed, except those
  /// with the id of a model that is removed.
  mutating func replace(with models: [Model]) throws(RepositoryError) {
    let former = self
    self = try ModelTable(models)
    guard !former.kept.isEmpty else { return }
    // For each former model, the place behind it or behind the last one before it that is still there.
    var places = [0]
    for model in former.models {
      places.append(positions[model.id].map { $0 + 1 } ?? places[places.count - 1])
    }
    for entry in former.kept {
      if let id = entry.element.id?.value.base as? Model.ID, former.positions[id] != nil, positions[id] == nil
      {
        continue
      }
      kept.append((entry.element, places[entry.modelsBefore]))
    }
    kept.sort { $0.modelsBefore < $1.modelsBefore }
  }
}
