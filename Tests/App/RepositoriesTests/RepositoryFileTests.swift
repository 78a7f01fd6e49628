import Foundation
import Repositories
import TestSupport
import Testing

enum Shop {
  struct Profile: Codable, Sendable { var name = "" }
}
enum Club {
  struct Profile: Codable, Sendable { var name = "" }
  struct profile: Codable, Sendable { var name = "" }
}
struct Boxed<Value: Codable & Sendable>: Codable, Sendable { var value: Value? }
struct Boxed_Int_: Codable, Sendable {}
struct Straße: Codable, Sendable {}
private struct Hidden: Codable, Sendable { var name = "" }

/// The default files of storages.
@Suite struct RepositoryFileTests {
  @Test func `two types never share a file`() {
    let names = [
      RepositoryFile.name(for: Shop.Profile.self), RepositoryFile.name(for: Club.Profile.self),
      RepositoryFile.name(for: Club.profile.self), RepositoryFile.name(for: Shop.Profile?.self),
      RepositoryFile.name(for: [Shop.Profile].self), RepositoryFile.name(for: [Shop.Profile]?.self),
      RepositoryFile.name(for: [Shop.Profile?].self), RepositoryFile.name(for: Boxed<Int>.self),
      RepositoryFile.name(for: Boxed<String>.self), RepositoryFile.name(for: Boxed_Int_.self),
      RepositoryFile.name(for: Boxed<Boxed<Boxed<Boxed<Boxed<Boxed<Boxed<Boxed<Boxed<Int>>>>>>>>>.self),
      RepositoryFile.name(for: Boxed<Boxed<Boxed<Boxed<Boxed<Boxed<Boxed<Boxed<Boxed<Bool>>>>>>>>>.self),
    ]
    #expect(Set(names.map { $0.lowercased() }).count == names.count)
  }

  @Test func `a file has the name of its models, and the same one in every launch`() {
    #expect(RepositoryFile.name(for: Shop.Profile.self) == "Profile-79e194748cc60b73.json")
    #expect(RepositoryFile.name(for: [Shop.Profile].self).hasPrefix("Profile-"))
    #expect(RepositoryFile.name(for: Optional<Shop.Profile>.self).hasPrefix("Profile-"))
    #expect(RepositoryFile.name(for: Boxed<Int>.self).hasPrefix("Boxed_Int_-"))
    #expect(RepositoryFile.name(for: Straße.self).hasPrefix("Straße-"))
    let long = RepositoryFile.name(
      for: Boxed<Boxed<Boxed<Boxed<Boxed<Boxed<Boxed<Boxed<Boxed<Int>>>>>>>>>.self)
    #expect(long.count == 60 + 1 + 16 + 5)
  }

  @Test func `both storages use the same file by default, in Application Support`() {
    let file = FileStorage<Shop.Profile>().file
    #expect(InMemoryStorageWithFilePersistence<Shop.Profile>().file == file)
    #expect(file == RepositoryFile.folder.appending(path: RepositoryFile.name(for: Shop.Profile.self)))
    #expect(RepositoryFile.folder.lastPathComponent == "Repositories")
    let other = URL(filePath: "/elsewhere/profile.json")
    #expect(FileStorage<Shop.Profile>(file: other).file == other)
  }

  @Test func `a private type has no lasting name, and needs a file`() throws {
    let hidden = SingleRepository<Hidden>(storage: FileStorage())
    let error = try #require(throws: RepositoryError.self) { try hidden.put(Hidden()) }
    #expect(error.reason.contains("pass the storage a file for"))
    #expect(hidden.value == nil)
    let folder = try TemporaryFolder()
    let file = folder.file("hidden.json")
    try SingleRepository<Hidden>(storage: FileStorage(file: file)).put(Hidden(name: "kept"))
    #expect(SingleRepository<Hidden>(storage: FileStorage(file: file)).value?.name == "kept")
  }
}
