import Foundation
import Repositories
import TestSupport
import Testing

// example: Adopt begin
/// Makes the file of a repository from JSON that an earlier version of the app wrote, as schema version 1.
///
/// Does nothing if the repository has a file already, or one that was set aside.
func adopt(_ old: URL, as file: URL) throws {
  let manager = FileManager.default
  let folder = file.deletingLastPathComponent()
  try manager.createDirectory(at: folder, withIntermediateDirectories: true)
  let name = file.lastPathComponent
  let isInUse = try manager.contentsOfDirectory(atPath: folder.path).contains { other in
    other == name
      || ["version-", "undecoded-", "corrupt-"].contains { other.hasPrefix("\(name).\($0)") }
  }
  guard !isInUse, manager.fileExists(atPath: old.path) else { return }
  let value = try Data(contentsOf: old)
  let staged = folder.appending(path: "\(name).adopted")
  try (Data(#"{"schemaVersion":1,"value":"#.utf8) + value + Data("}".utf8)).write(to: staged)
  let handle = try FileHandle(forWritingTo: staged)
  try handle.synchronize()
  try handle.close()
  try manager.moveItem(at: staged, to: file)
}
// example: Adopt end

private struct Settings: Codable, Equatable {
  var theme = "light"
  var fontSize = 12
}

private struct Note: Codable, Equatable, Identifiable {
  let id: String
  var text: String
}

/// The lines of the article on files that an app wrote before it used repositories.
@Suite struct AdoptingExistingFilesTests {
  private static let article = "Sources/App/Repositories/Repositories.docc/AdoptingExistingFiles.md"

  @Test func `a file that an app wrote before becomes a repository, once`() throws {
    let temporary = try TemporaryFolder()
    let support = temporary.file("support")
    let old = try temporary.write(Data(#"{"style":"dark","size":14}"#.utf8), to: "support/settings.json")

    // example: Single begin
    let file = support.appending(path: "Repositories/settings.json")
    try adopt(old, as: file)
    let settings = ValueRepository(
      Settings(),
      storage: FileStorage(
        file: file,
        migrations: [
          .rename("style", to: "theme"),  // 1 → 2
          .rename("size", to: "fontSize"),  // 2 → 3
        ]))
    // example: Single end
    #expect(settings.value == Settings(theme: "dark", fontSize: 14))

    try settings.update { $0.fontSize = 16 }
    try adopt(old, as: file)
    let names = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
    #expect(names == ["settings.json"])
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text == #"{"schemaVersion":3,"value":{"fontSize":16,"theme":"dark"}}"#)
    #expect(try String(contentsOf: old, encoding: .utf8) == #"{"style":"dark","size":14}"#)
  }

  @Test func `an object of models becomes a collection`() throws {
    let temporary = try TemporaryFolder()
    let old = try temporary.write(
      Data(#"{"b":{"text":"two"},"a":{"text":"one"}}"#.utf8), to: "support/notes.json")
    let file = temporary.file("support/Repositories/notes.json")
    try adopt(old, as: file)

    // example: Collection begin
    let migrations: Migrations = [
      .step("a list of notes with their ids") { tree in  // 1 → 2
        guard case .object(let notes) = tree else { return }
        tree = .array(
          notes.sorted { $0.key < $1.key }.map { id, note in
            var note = note
            note["id"] = .string(id)
            return note
          })
      }
    ]
    let notes = CollectionRepository<Note>(storage: FileStorage(file: file, migrations: migrations))
    // example: Collection end
    #expect(notes.all == [Note(id: "a", text: "one"), Note(id: "b", text: "two")])
  }

  @Test func `what is no JSON is set aside, and the old file stays`() throws {
    let temporary = try TemporaryFolder()
    let old = try temporary.write(Data("no JSON".utf8), to: "support/settings.json")
    let file = temporary.file("support/Repositories/settings.json")
    try adopt(old, as: file)
    let storage = FileStorage<Settings>(file: file)
    let settings = ValueRepository(Settings(), storage: storage)
    #expect(settings.value == Settings())
    #expect(storage.setAside.contains { $0.lastPathComponent == "settings.json.corrupt-1" })
    try adopt(old, as: file)
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(FileManager.default.fileExists(atPath: old.path))
  }

  @Test(arguments: ["Adopt", "Single", "Collection"])
  func `the article shows just those lines`(marker: String) throws {
    try DocumentedExample.check(article: Self.article, code: #filePath, marker: marker)
  }
}
