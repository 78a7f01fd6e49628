/// An ordered list of models with unique ids.
struct ModelTable<Model: Identifiable & Sendable>: Sendable where Model.ID: Sendable {
  private(set) var models: [Model] = []
  private var positions: [Model.ID: Int] = [:]

  init() {}

  init(_ models: [Model]) throws(RepositoryError) {
    for model in models { try insert(model) }
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

  mutating func remove(_ id: Model.ID) -> Model? {
    guard let position = positions.removeValue(forKey: id) else { return nil }
    let model = models.remove(at: position)
    for index in models[position...].indices { positions[models[index].id] = index }
    return model
  }
}
