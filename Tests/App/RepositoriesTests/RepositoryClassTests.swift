import Foundation
import Repositories
import TestSupport
import Testing

/// Repositories as classes of an app.
@Suite struct RepositoryClassTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `the article's repositories keep their models in Application Support`() async {
    // In a process of its own, because the folder is set by its environment.
    await #expect(processExitsWith: .success) {
      let support = try TemporaryFolder()
      setenv("XDG_DATA_HOME", support.path, 1)
      let profile = ProfileRepository()
      let pizzerias = PizzeriaRepository()
      #expect(profile.value == nil && pizzerias.all.isEmpty)
      try profile.put(ProfileModel(name: "Ada"))
      try pizzerias.insert(PizzeriaModel(id: 1, name: "Da Michele"))
      try await profile.flush()
      try await pizzerias.flush()
      let kept = (ProfileRepository().value, PizzeriaRepository().all, PlainRepository().value)
      guard kept.0 == ProfileModel(name: "Ada"), kept.2 == kept.0,
        kept.1 == [PizzeriaModel(id: 1, name: "Da Michele")]
      else { exit(1) }
      #if os(Linux)
        guard RepositoryFile.folder.path.hasPrefix(support.path + "/") else { exit(2) }
        let names = try FileManager.default.contentsOfDirectory(atPath: RepositoryFile.folder.path).sorted()
        guard names.count == 2, names[0].hasPrefix("PizzeriaModel-"), names[1].hasPrefix("ProfileModel-")
        else { exit(3) }
      #endif
    }
  }

  @Test func `a subclass has its own methods and rules, and is used as its superclass`() async throws {
    let file = folder.file("favourites.json")
    let favourites = FavouritePizzerias(FileStorage(file: file))
    try favourites.insert(PizzeriaModel(id: 1, name: "Da Michele"))
    let error = try #require(throws: ValidationError.self) {
      try favourites.insert(PizzeriaModel(id: 2, name: ""))
    }
    #expect(error.description == "‘add a favourite’ was refused: [1].name: is empty")
    // The superclass's method is not overridden by one with the same name and other parameters.
    let base: CollectionRepository<PizzeriaModel> = favourites
    try base.insert(PizzeriaModel(id: 3, name: "Starita"), PizzeriaModel(id: 4, name: "Sorbillo"))
    #expect(throws: ValidationError.self) { try base.insert(PizzeriaModel(id: 5, name: "")) }
    #expect(FavouritePizzerias(FileStorage(file: file)).all.map(\.id) == [1, 3, 4])
    let task = Task { base.count }
    #expect(await task.value == 3)

    let settings = SettingsRepository(FileStorage(file: folder.file("settings.json")).toAny())
    #expect(settings.theme == "light")
    try settings.use(theme: "dark")
    #expect(SettingsRepository(FileStorage(file: folder.file("settings.json")).toAny()).theme == "dark")
  }

  @Test func `an observation of a subclass ends with it`() async throws {
    var plain: PlainRepository? = PlainRepository(storage: InMemoryStorage())
    let values = try #require(plain?.values)
    try plain?.put(ProfileModel(name: "Ada"))
    plain = nil
    var seen: [ProfileModel?] = []
    for await value in values { seen.append(value) }
    #expect(seen == [ProfileModel(name: "Ada")])
  }

  // MARK: - Several repositories over one storage

  @Test func `two repositories over one storage do not see each other, and the file has the last commit`()
    async throws
  {
    let storage = InMemoryStorageWithFilePersistence<ProfileModel?>(file: folder.file("profile.json"))
    let (first, second) = (PlainRepository(storage: storage), PlainRepository(storage: storage))
    try first.put(ProfileModel(name: "first"))
    #expect(second.value == nil)
    try second.put(ProfileModel(name: "second"))
    #expect(first.value?.name == "first")
    try await first.flush()
    #expect(PlainRepository(storage: FileStorage(file: folder.file("profile.json"))).value?.name == "second")
  }

  @Test(arguments: [true, false])
  func `commits of many repositories over one storage never mix`(isDurable: Bool) async throws {
    let file = folder.file("pizzerias.json")
    let storage =
      isDurable
      ? FileStorage<[PizzeriaModel]>(file: file).toAny()
      : InMemoryStorageWithFilePersistence<[PizzeriaModel]>(file: file).toAny()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<4 {
        group.addTask {
          let pizzerias = PizzeriasInFile(storage)
          for round in 1...10 {
            try pizzerias.update { all in
              all = (0..<round).map { PizzeriaModel(id: $0, name: "\(number)") }
            }
          }
          try await pizzerias.flush()
        }
      }
      try await group.waitForAll()
    }
    let found = PizzeriasInFile(FileStorage(file: file)).all
    #expect(Set(found.map(\.name)).count == 1)
    #expect(found.count == 10)
  }

  @Test func `a repository that opens does not disturb one that writes`() async throws {
    let storage = FileStorage<Int>(file: folder.file("number.json"))
    try storage.save(0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for number in 1...200 { try storage.save(number) } }
      group.addTask { for _ in 1...2_000 { _ = try storage.load { _ in } } }
      try await group.waitForAll()
    }
    #expect(try storage.load { _ in } == 200)
  }
}
