// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// An app's models and repositories. This file imports only what an app imports; imports are internal by default in this
// package, but not in an app.
public import Repositories

public struct ProfileModel: Codable, Sendable, Equatable {
  public var name: String
}

public struct PizzeriaModel: Codable, Sendable, Equatable, Identifiable {
  public let id: Int
  public var name: String
}

// example: Classes begin
public class ProfileRepository: SingleRepository<ProfileModel> {
  public init() { super.init(storage: InMemoryStorageWithFilePersistence().toAny()) }
}

public class PizzeriaRepository: CollectionRepository<PizzeriaModel> {
  public init() { super.init(storage: InMemoryStorageWithFilePersistence().toAny()) }
}

// Swift warns about a subclass that does not repeat this; also in the declaration itself.
extension ProfileRepository: @unchecked Sendable {}
extension PizzeriaRepository: @unchecked Sendable {}
// example: Classes end

/// Without `toAny()`, with a parameter and with a default value.
final class PlainRepository: SingleRepository<ProfileModel>, @unchecked Sendable {
  init() { super.init(storage: InMemoryStorageWithFilePersistence()) }
  init(storage: some RepositoryStorage<ProfileModel?>) { super.init(storage: storage) }
}

final class SettingsRepository: ValueRepository<[String: String]>, @unchecked Sendable {
  init(_ storage: AnyRepositoryStorage<[String: String]>) { super.init(["theme": "light"], storage: storage) }

  var theme: String { value["theme"] ?? "light" }
  func use(theme: String) throws { try update { $0["theme"] = theme } }
}

/// A subclass of a subclass, with its own state and rules.
final class FavouritePizzerias: PizzeriasInFile, @unchecked Sendable {
  func insert(_ pizzeria: PizzeriaModel) throws { try super.insert(pizzeria, action: "add a favourite") }
}

class PizzeriasInFile: CollectionRepository<PizzeriaModel>, @unchecked Sendable {
  init(_ storage: some RepositoryStorage<[PizzeriaModel]>) {
    super.init(storage: storage, validators: [.each(.at("name", \.name, "is empty") { !$0.isEmpty })])
  }
}
