import Foundation
import Repositories
import TestSupport
import Testing

/// What a version of an app can't decode, and a later one can.
@Suite struct UndecodedTests {
  private struct Note1: Codable, Equatable, Sendable, Identifiable { var id: Int, name: String }
  private struct Note2: Codable, Equatable, Sendable, Identifiable { var id: Int, title: String }
  private struct Book1: Codable, Equatable, Sendable { var notes: [Note1] = [] }
  private struct Book2: Codable, Equatable, Sendable { var notes: [Note2] = [] }

  enum Kind: CaseIterable, Sendable { case file, memoryAndFile }

  private static let rename: Migration = .rename("name", to: "title")

  private let folder: TemporaryFolder
  private let file: URL
  private let log = EventLog()

  init() throws {
    folder = try TemporaryFolder()
    file = folder.file("notes.json")
  }

  private func storage<Value: Codable & Sendable>(
    _ kind: Kind, _ migrations: Migrations
  ) -> any RepositoryStorage<Value> {
    switch kind {
    case .file: FileStorage<Value>(file: file, migrations: migrations, onEvent: log.record)
    case .memoryAndFile:
      InMemoryStorageWithFilePersistence<Value>(file: file, migrations: migrations, onEvent: log.record)
    }
  }

  private func open<Note: Codable & Identifiable & Sendable>(
    _ kind: Kind = .file, _: Note.Type = Note2.self, _ migrations: Migrations = []
  ) throws -> CollectionRepository<Note> where Note.ID: Sendable {
    CollectionRepository(storage: storage(kind, migrations))
  }

  private var text: String { get throws { try String(contentsOf: file, encoding: .utf8) } }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  private func write(_ elements: String, version: Int = 1) throws {
    try folder.write(Data(#"{"schemaVersion":\#(version),"value":[\#(elements)]}"#.utf8), to: "notes.json")
  }

  // MARK: - A forgotten migration

  @Test(arguments: Kind.allCases)
  func `a release that forgot a migration loses none of 300 models`(kind: Kind) async throws {
    let all = (1...300).map { Note1(id: $0, name: "note \($0)") }
    let first = try open(kind, Note1.self)
    try first.insert(contentsOf: all)
    try await first.flush()

    for round in 1...2 {
      let forgot = try open(kind)
      #expect(forgot.all.map(\.id) == (round == 1 ? [] : [1001]))
      try forgot.insert(Note2(id: 1000 + round, title: "new"))
      try await forgot.flush()
    }
    #expect(log.kinds == [.undecoded, .undecoded])
    #expect(log.all[0].reason.hasPrefix("300 of 300 elements can't be decoded and are kept: [0]: "))

    for _ in 1...2 {
      let mended = try open(kind, Note2.self, [.each(Self.rename)])
      #expect(mended.all.map(\.id) == Array(1...300) + [1001, 1002])
      #expect(mended.find(7)?.title == "note 7")
      try await mended.flush()
      #expect(try text.hasPrefix(#"{"schemaVersion":2,"value":["#))
    }
    #expect(log.kinds.dropFirst(2) == [.migrated, .cameBack])
    #expect(try names == ["notes.json"])
  }

  @Test func `the app from before reads its models again after a release that forgot a migration`() throws {
    try open(.file, Note1.self).insert(Note1(id: 1, name: "a"), Note1(id: 2, name: "b"))
    try open().insert(Note2(id: 3, title: "c"))
    #expect(try open(.file, Note1.self).all == [Note1(id: 1, name: "a"), Note1(id: 2, name: "b")])
    #expect(try open().all == [Note2(id: 3, title: "c")])
  }

  @Test func `a file of which nothing can be decoded stays as it is until the first commit`() throws {
    try open(.file, Note1.self).insert(Note1(id: 1, name: "a"))
    let before = try text
    let failing: Migrations = [.each(.step("fails") { _ in throw CocoaError(.coderInvalidValue) })]
    #expect(try open(.file, Note2.self, failing).count == 0)
    #expect(try text == before)
    #expect(try open(.file, Note1.self).count == 1)
  }

  @Test(arguments: Kind.allCases)
  func `a single value returns when it can be decoded, and the other one is set aside`(kind: Kind)
    async throws
  {
    func open<Book: Codable & Sendable>(_ initial: Book, _ migrations: Migrations = []) throws
      -> ValueRepository<Book>
    { ValueRepository(initial, storage: storage(kind, migrations)) }
    let mend: Migrations = [.at("notes", .each(Self.rename))]

    let first = try open(Book1())
    try first.update { $0.notes = (1...300).map { Note1(id: $0, name: "\($0)") } }
    try await first.flush()
    let before = try text
    for round in 1...2 {
      let forgot = try open(Book2())
      #expect(forgot.value.notes.count == round - 1)
      try forgot.update { $0.notes.append(Note2(id: 1000 + round, title: "new")) }
      try await forgot.flush()
    }
    #expect(try String(contentsOf: folder.file("notes.json.undecoded-1"), encoding: .utf8) == before)

    // The app from before.
    let old = try open(Book1())
    #expect(old.value.notes.count == 300)
    #expect(try text == before)
    #expect(
      try names == ["notes.json", "notes.json.undecoded-2", "notes.json.undecoded-2.reason"])
    #expect(try open(Book2()).value.notes.map(\.id) == [1001, 1002])

    // The next one, with the migration.
    for _ in 1...2 {
      let mended = try open(Book2(), mend)
      #expect(mended.value.notes.map(\.title) == (1...300).map { "\($0)" })
      try await mended.flush()
    }
    #expect(try names == ["notes.json", "notes.json.version-1"])
    #expect(try String(contentsOf: folder.file("notes.json.version-1"), encoding: .utf8).contains("1002"))
  }

  @Test func `of several files that could not be decoded, the first one returns`() throws {
    func open<Note: Codable & Sendable>(_ initial: Note, _ migrations: Migrations = []) throws
      -> ValueRepository<Note>
    { ValueRepository(initial, storage: storage(.file, migrations)) }
    struct Note3: Codable, Equatable { var id: Int, headline: String }
    try open(Note1(id: 0, name: "")).update { $0.name = "one" }
    try open(Note2(id: 0, title: "")).update { $0.title = "two" }
    try open(Note3(id: 0, headline: "")).update { $0.headline = "three" }
    #expect(
      try names == [
        "notes.json", "notes.json.undecoded-1", "notes.json.undecoded-1.reason", "notes.json.undecoded-2",
        "notes.json.undecoded-2.reason",
      ])
    let mend: Migrations = [Self.rename, .rename("title", to: "headline")]
    for _ in 1...2 { #expect(try open(Note3(id: 0, headline: ""), mend).value.headline == "one") }
    #expect(!(try names.contains { $0.contains("undecoded") }))
    // None is lost.
    let others = try names.filter { !$0.hasSuffix(".reason") }.map {
      try String(contentsOf: folder.file($0), encoding: .utf8)
    }
    for word in ["one", "two", "three"] { #expect(others.contains { $0.contains("\"\(word)\"") }) }
  }

  @Test func `a file is kept for a newer app, also if it could not be decoded`() throws {
    try folder.write(Data(#"{"schemaVersion":2,"value":"newer"}"#.utf8), to: "notes.json.undecoded-1")
    let note = ValueRepository(Note1(id: 0, name: ""), storage: storage(.file, []))
    #expect(note.value.id == 0)
    #expect(try names == ["notes.json.undecoded-1"])
  }

  // MARK: - One bad element

  /// A newer app's note, which decodes more.
  private struct Tolerant: Codable, Equatable, Sendable, Identifiable { var id: Int, title: String? }

  @Test(arguments: Kind.allCases)
  func `one bad element of 300 leaves 299, and is written back unchanged at its place`(kind: Kind)
    async throws
  {
    let bad = #"{"id": 17,  "big":123456789012345678901234567890123456789012345.10,"text":"\u00e9\/ü"}"#
    try write((0..<300).map { $0 == 17 ? bad : #"{"id":\#($0),"title":"\#($0)"}"# }.joined(separator: ", "))
    let before = try text
    let notes = try open(kind)
    #expect(notes.all.map(\.id) == (0..<300).filter { $0 != 17 })
    #expect(try text == before)
    #expect(log.all.map(\.kind) == [.undecoded])
    #expect(log.all[0].reason.hasPrefix("1 of 300 elements can't be decoded and are kept: [17]: "))

    try notes.insert(Note2(id: 300, title: "300"))
    try notes.update(5) { $0.title = "changed" }
    try notes.remove(3)
    try await notes.flush()
    #expect(try text.contains(#""undecoded":[{"position":16,"schemaVersion":1,"value":\#(bad)}]"#))
    let again = try open(kind)
    #expect(again.count == 299)
    try again.update { $0.removeAll { $0.id == 16 } }
    try await again.flush()

    let tolerant = try open(kind, Tolerant.self)
    #expect(tolerant.all.map(\.id) == (0...300).filter { $0 != 3 && $0 != 16 })
    #expect(tolerant.find(5)?.title == "changed")
    try await tolerant.flush()
    #expect(try !text.contains("undecoded"))
  }

  @Test func `several elements keep their places when models are moved and removed`() throws {
    try write(
      #"{"a":1},{"id":1,"title":"1"},{"a":2},{"a":3},{"id":2,"title":"2"},{"id":3,"title":"3"},{"a":4}"#)
    func kept() throws -> [String] {
      struct File: Decodable {
        struct Entry: Decodable { var position: Int, value: [String: Int] }
        var undecoded: [Entry]
      }
      return try JSONDecoder().decode(File.self, from: Data(text.utf8)).undecoded
        .map { "\($0.value["a"] ?? 0) at \($0.position)" }
    }
    let notes = try open()
    try notes.put(Note2(id: 2, title: "put"))
    #expect(try kept() == ["1 at 0", "2 at 2", "3 at 3", "4 at 6"])
    try notes.remove(1)
    #expect(try kept() == ["1 at 0", "2 at 1", "3 at 2", "4 at 5"])
    try notes.update { $0.reverse() }
    #expect(try kept() == ["1 at 0", "2 at 1", "3 at 2", "4 at 4"])
    #expect(try open().all.map(\.id) == [3, 2])
    try open().update { $0 = [] }
    #expect(try kept() == ["1 at 0", "2 at 1", "3 at 2", "4 at 3"])
    #expect(throws: RepositoryError.self) {
      try open().update { $0 = [Note2(id: 1, title: ""), Note2(id: 1, title: "")] }
    }
    try open().removeAll()
    #expect(try text == #"{"schemaVersion":1,"value":[]}"#)
  }

  @Test func `an element that can't be decoded is removed with its id and does not return`() throws {
    try write(#"{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":3,"name":"c"}"#)
    let forgot = try open()
    #expect(try forgot.remove(2) == nil)
    // The newer model replaces the one that could not be decoded.
    try forgot.insert(Note2(id: 3, title: "newer"))
    for _ in 1...2 {
      let mended = try open(.file, Note2.self, [.each(Self.rename)])
      #expect(mended.all == [Note2(id: 1, title: "a"), Note2(id: 3, title: "newer")])
    }
    try open(.file, Note2.self, [.each(Self.rename)]).remove(3)
    #expect(try open(.file, Note2.self, [.each(Self.rename)]).all.map(\.id) == [1])
    #expect(try !text.contains("\"c\""))
  }

  @Test func `a change that is refused removes no element`() throws {
    try write(#"{"id":1,"name":"a"},{"id":2,"title":"b"}"#)
    let notes = CollectionRepository<Note2>(
      storage: storage(.file, []), validators: [Validator("is empty") { !$0.isEmpty }])
    #expect(throws: ValidationError.self) { try notes.removeAll() }
    try notes.update(2) { $0.title = "changed" }
    #expect(try text.contains(#"{"id":1,"name":"a"}"#))
  }

  @Test func `of elements with the same id the first one is shown, and the others are kept`() throws {
    try write(#"{"id":7,"title":"a"},{"id":7,"title":"b"},{"id":8,"title":"c"}"#)
    let notes = try open()
    #expect(notes.all.map(\.title) == ["a", "c"])
    #expect(log.kinds == [.undecoded])
    #expect(log.all[0].reason.hasSuffix("[1]: a model with the id 7 already exists"))
    try notes.update(7) { $0.title = "A" }
    #expect(try open().all.map(\.title) == ["A", "c"])
    #expect(try text.contains(#"{"id":7,"title":"b"}"#))
    try open().update { $0.removeAll { $0.id == 7 } }
    #expect(try open().all.map(\.title) == ["c"])
    #expect(try !text.contains("undecoded"))
  }

  // MARK: - Migrations of some elements

  @Test func `an element that a step can't change keeps its schema, and the others are migrated`() throws {
    // The step fails because a property with the new name exists already.
    let bad = #"{"id":2,"name":"b","title":"B"}"#
    try write(#"{"id":1,"name":"a"},\#(bad),{"id":3,"name":"c"}"#)
    let steps: [Migration] = [.each(Self.rename), .each(.rename("title", to: "headline"))]
    #expect(try open(.file, Note2.self, [steps[0]]).all.map(\.title) == ["a", "c"])
    #expect(
      try text.hasPrefix(
        #"{"schemaVersion":2,"undecoded":[{"position":1,"schemaVersion":1,"value":\#(bad)}],"value":["#))
    struct Note3: Codable, Equatable, Sendable, Identifiable { var id: Int, headline: String }
    #expect(try open(.file, Note3.self, Migrations(steps)).all.map(\.headline) == ["a", "c"])
    // A version that decides which of the two is right.
    let mended = Migration.step("the name is right") { tree in
      if let name = tree["name"] { (tree["title"], tree["name"]) = (name, nil) }
    }
    let notes = try open(.file, Note3.self, [.each(mended), steps[1]])
    #expect(notes.all.map(\.headline) == ["a", "b", "c"])
    #expect(log.kinds.last == .cameBack)
  }

  @Test func `an element that is migrated and can't be decoded is kept as it was before`() throws {
    try write(#"{"id":1,"name":"a"},{"id":2, "name":5}"#)
    try open(.file, Note2.self, [.each(Self.rename)]).update(1) { $0.title = "A" }
    #expect(
      try text
        == #"{"schemaVersion":2,"undecoded":[{"position":1,"schemaVersion":1,"value":{"id":2, "name":5}}],"#
        + #""value":[{"id":1,"title":"A"}]}"#)
    let text = Migration.step("a number is text") { tree in
      if let number = tree["name"]?.integer { tree["name"] = .string("\(number)") }
    }
    let mended = Migration.step("both") { tree in
      for step in [text, Self.rename] { tree = try Migrations([step]).migrate(tree, from: 1) }
    }
    #expect(try open(.file, Note2.self, [.each(mended)]).all.map(\.title) == ["A", "5"])
  }

  @Test(arguments: [
    (["drop", "", "c", "twice"], ["c at 1", "twice at 2", "copy"]), (["drop", "drop", "", "c"], ["c at 2"]),
    (["twice", "", "c"], ["c at 1", "copy", "twice at 0"]), (["drop", ""], []), ([""], []),
  ])
  func `a step that changes the whole array gets it without the elements that it can't change`(
    names: [String], titles: [String]
  ) throws {
    try write(
      names.enumerated().map { id, name in
        name.isEmpty ? #"{"id":\#(id)}"# : #"{"id":\#(id),"name":"\#(name)"}"#
      }
      .joined(separator: ","))
    let whole = Migration.step("whole") { tree in
      tree = .array(
        try (tree.array ?? []).enumerated().flatMap { index, note -> [JSONTree] in
          guard let name = note["name"]?.string else { throw CocoaError(.coderInvalidValue) }
          if name == "drop" { return [] }
          let changed: JSONTree = ["id": note["id"] ?? 0, "title": .string("\(name) at \(index)")]
          return name == "twice" ? [changed, ["id": 40, "title": "copy"]] : [changed]
        })
    }
    let notes = try open(.file, Note2.self, [whole])
    #expect(notes.all.map(\.title).sorted() == titles.sorted())
    #expect(log.all.last?.reason.hasPrefix("1 of \(titles.count + 1) elements") == true)
    let missing = names.firstIndex(of: "") ?? 0
    try notes.insert(Note2(id: 50, title: "new"))
    #expect(try text.contains(#""schemaVersion":1,"value":{"id":\#(missing)}}]"#))
  }

  @Test func `an object that becomes an array is read element by element from then on`() throws {
    try folder.write(
      Data(#"{"schemaVersion":1,"value":{"1":{"title":"a"},"2":{"name":"b"},"3":{"title":"c"}}}"#.utf8),
      to: "notes.json")
    let list = Migration.step("a list") { tree in
      guard case .object(let notes) = tree else { return }
      tree = .array(
        notes.sorted { $0.key < $1.key }.map { id, note in
          var note = note
          note["id"] = .integer(Int(id) ?? 0)
          return note
        })
    }
    #expect(try open(.file, Note2.self, [list]).all.map(\.title) == ["a", "c"])
    #expect(try open(.file, Note2.self, [list, .each(Self.rename)]).all.map(\.title) == ["a", "b", "c"])
  }

  @Test func `a value that is no array is set aside until a version makes an array of it`() throws {
    try folder.write(Data(#"{"schemaVersion":1,"value":{"1":"a"}}"#.utf8), to: "notes.json")
    try open().insert(Note2(id: 5, title: "new"))
    #expect(log.all[0].reason == "an object is not an array")
    let list = Migration.step("a list") { tree in
      guard case .object(let notes) = tree else { return }
      tree = .array(notes.map { id, title in ["id": .integer(Int(id) ?? 0), "title": title] })
    }
    #expect(try open(.file, Note2.self, [list]).all == [Note2(id: 1, title: "a")])
    #expect(try String(contentsOf: folder.file("notes.json.version-1"), encoding: .utf8).contains("new"))
  }

  @Test func `elements older than the oldest supported schema are kept`() throws {
    try write(#"{"id":1,"title":"a"}"#, version: 2)
    let supported = Migrations([.each(.add("x", 1))], oldestVersion: 3)
    #expect(try open(.file, Note2.self, supported).count == 0)
    try open(.file, Note2.self, supported).insert(Note2(id: 2, title: "b"))
    let all = Migrations([.each(.add("x", 1)), .each(.add("y", 1))], oldestVersion: 2)
    #expect(try open(.file, Note2.self, all).all.map(\.id) == [1, 2])
  }

  @Test func `entries that another program wrote are kept as well as possible`() throws {
    let entries = #"5,{"value":{"id":1,"name":"a"}},{"position":-1,"schemaVersion":-9,"value":[]}"#
    try folder.write(
      Data(#"{"schemaVersion":1,"undecoded":[\#(entries)],"value":[{"id":2,"title":"b"}]}"#.utf8),
      to: "notes.json")
    try open().update(2) { $0.title = "c" }
    #expect(try open().all == [Note2(id: 2, title: "c")])
    for value in ["5", #"{"id":1,"name":"a"}"#, "[]"] {
      #expect(try text.contains(#""schemaVersion":1,"value":\#(value)}"#))
    }
  }
}
