import Foundation
import Repositories
import TestSupport
import Testing

/// The same model in four versions of an app.
private struct Version1: Codable, Equatable, Sendable { var name: String, price: Double }
private struct Version2: Codable, Equatable, Sendable { var title: String, price: Double }
private struct Version3: Codable, Equatable, Sendable { var headline: String, price: Double }
private struct Version4: Codable, Equatable, Sendable {
  struct Price: Codable, Equatable, Sendable { var amount: Decimal, currency: String }
  var headline: String, price: Price
}

@Suite struct MigrationsTests {
  private static let steps: [Migration] = [
    .rename("name", to: "title"),
    .rename("title", to: "headline"),
    .step("a price has a currency") { tree in
      tree["price"] = ["amount": tree["price"] ?? 0, "currency": "EUR"]
    },
  ]

  private let folder: TemporaryFolder
  private let file: URL
  private let failing = FailingDisk()
  private let log = EventLog()

  init() throws {
    folder = try TemporaryFolder()
    file = folder.file("product.json")
  }

  /// Opens the app's repository with a version of its schema.
  private func open<Model: Codable & Sendable>(_ version: Int, _ initial: Model) throws -> ValueRepository<
    Model
  > {
    ValueRepository(
      initial,
      storage: FileStorage(
        file: file, migrations: Migrations(Array(Self.steps.prefix(version - 1))), disk: failing.disk,
        onEvent: log.record))
  }

  private func open1() throws -> ValueRepository<Version1> { try open(1, Version1(name: "", price: 0)) }
  private func open2() throws -> ValueRepository<Version2> { try open(2, Version2(title: "", price: 0)) }
  private func open3() throws -> ValueRepository<Version3> { try open(3, Version3(headline: "", price: 0)) }
  private func open4() throws -> ValueRepository<Version4> {
    try open(4, Version4(headline: "", price: .init(amount: 0, currency: "")))
  }

  private var text: String { get throws { try String(contentsOf: file, encoding: .utf8) } }

  // MARK: - Upgrades

  @Test func `a property renamed twice is migrated from every older version`() throws {
    let expected = Version4(headline: "Tent", price: .init(amount: 12.5, currency: "EUR"))
    let older = [
      #"{"schemaVersion":1,"value":{"name":"Tent","price":12.5}}"#,
      #"{"schemaVersion":2,"value":{"title":"Tent","price":12.5}}"#,
      #"{"schemaVersion":3,"value":{"headline":"Tent","price":12.5}}"#,
    ]
    for text in older {
      try folder.write(Data(text.utf8), to: "product.json")
      #expect(try open4().value == expected)
      #expect(try self.text.hasPrefix(#"{"schemaVersion":4,"#))
      #expect(try open4().value == expected)
    }
    #expect(log.kinds == [.migrated, .migrated, .migrated])
    #expect(log.all.map(\.reason) == (1...3).map { "from schema \($0) to 4" })
  }

  @Test func `each version reads the file of the version before it`() throws {
    try open1().update { $0 = Version1(name: "Tent", price: 12.5) }
    #expect(try open2().value == Version2(title: "Tent", price: 12.5))
    #expect(try open3().value == Version3(headline: "Tent", price: 12.5))
    #expect(try open4().value.headline == "Tent")
  }

  @Test func `a crash during a migration leaves the old file, and the next launch migrates it`() throws {
    try open1().update { $0 = Version1(name: "Tent", price: 12.5) }
    let old = try text
    failing.fault = .powerCut
    #expect(try open3().value.headline == "Tent")
    #expect(try text == old)
    failing.fault = nil
    #expect(try open3().value.headline == "Tent")
    #expect(try text == #"{"schemaVersion":3,"value":{"headline":"Tent","price":12.5}}"#)
  }

  @Test func `on a full disk a migration applies in memory, and the file is updated with the next commit`()
    throws
  {
    try open1().update { $0.name = "Tent" }
    failing.fault = .writing(ENOSPC)
    let repository = try open3()
    #expect(repository.value.headline == "Tent")
    #expect(log.kinds == [.migrated, .notSaved])
    failing.fault = nil
    try repository.update { $0.price = 1 }
    #expect(try open3().value == Version3(headline: "Tent", price: 1))
  }

  @Test func `if a step throws, the file is set aside with the step's name`() throws {
    try folder.write(Data(#"{"schemaVersion":1,"value":["no object"]}"#.utf8), to: "product.json")
    #expect(try open2().value.title == "")
    #expect(log.kinds == [.undecoded])
    #expect(log.all[0].file.lastPathComponent == "product.json.undecoded-1")
    #expect(log.all[0].reason == "migration 1 → 2 (rename name to title): an array is not an object")
  }

  @Test func `a collection's models migrate one by one`() throws {
    try folder.write(
      Data(#"{"schemaVersion":1,"value":[{"id":1,"title":"a"},{"id":2,"title":"b","dates":[]}]}"#.utf8),
      to: "product.json")
    let trips = CollectionRepository<Trip>(
      storage: InMemoryStorageWithFilePersistence(
        file: file, migrations: [.each(.rename("title", to: "name")), .each(.add("dates", []))]))
    #expect(trips.all == [Trip(id: 1, name: "a"), Trip(id: 2, name: "b")])
  }

  // MARK: - Rollbacks

  @Test func `a still newer app migrates the file that it moves back`() throws {
    try open3().update { $0 = Version3(headline: "Tent", price: 3) }
    #expect(try open1().value.name == "")
    #expect(try open4().value == Version4(headline: "Tent", price: .init(amount: 3, currency: "EUR")))
    #expect(!FileManager.default.fileExists(atPath: folder.file("product.json.version-3").path))
  }

  @Test func `a rollback by one version finds no file that is too new for it`() throws {
    try open4().update { $0.headline = "four" }
    try open1().update { $0.name = "one" }
    #expect(try open2().value.title == "one")
    #expect(try open4().value.headline == "one")
    #expect(try String(contentsOf: folder.file("product.json.version-4"), encoding: .utf8).contains("four"))
  }

  @Test func `a newer file is not overwritten by a second one of its schema`() throws {
    let newer = { (name: String) in Data(#"{"schemaVersion":9,"value":"\#(name)"}"#.utf8) }
    try folder.write(newer("first"), to: "product.json")
    _ = try open1()
    try folder.write(newer("second"), to: "product.json")
    _ = try open1()
    #expect(try Data(contentsOf: folder.file("product.json.version-9")) == newer("second"))
    #expect(try Data(contentsOf: folder.file("product.json.corrupt-1")) == newer("first"))
  }

  @Test(arguments: [
    ("damage", RepositoryEvent.Kind.corrupt), (#"{"schemaVersion":2,"value":{"title":5}}"#, .undecoded),
    (#"{"schemaVersion":9,"value":{"title":"nine"}}"#, .undecoded),
  ])
  func `if the file that was set aside can't be used, the older one stays in use`(
    text: String, kind: RepositoryEvent.Kind
  ) throws {
    try open1().update { $0.name = "one" }
    try folder.write(Data(text.utf8), to: "product.json.version-2")
    #expect(try open2().value.title == "one")
    #expect(log.kinds == [kind, .migrated])
    #expect(try String(contentsOf: folder.file("product.json.\(kind)-1"), encoding: .utf8) == text)
  }

  // MARK: - Steps

  @Test func `steps are applied from the file's version on, each once and in order`() throws {
    let step = { (letter: String) in
      Migration.step(letter) { tree in tree = .string((tree.string ?? "") + letter) }
    }
    let migrations = Migrations([step("a"), step("b"), step("c")], oldestVersion: 5)
    #expect(migrations.version == 8)
    #expect(try (5...8).map { try migrations.migrate("", from: $0) } == ["abc", "bc", "c", ""])
    for version in [4, 9] {
      #expect(throws: MigrationError.self) { try migrations.migrate("", from: version) }
    }
    #expect(([] as Migrations).version == 1)
  }

  @Test func `the predefined steps work as named`() throws {
    let tree: JSONTree = ["a": 1, "b": ["c": nil]]
    let migrate = { (step: Migration) in try Migrations([step]).migrate(tree, from: 1) }
    #expect(try migrate(.rename("a", to: "z")) == ["z": 1, "b": ["c": nil]])
    #expect(try migrate(.rename("absent", to: "z")) == tree)
    #expect(try migrate(.remove("a")) == ["b": ["c": nil]])
    #expect(try migrate(.remove("absent")) == tree)
    #expect(try migrate(.add("d", true)) == ["a": 1, "b": ["c": nil], "d": true])
    #expect(try migrate(.add("a", 2)) == tree)
    #expect(try migrate(.at("b", .rename("c", to: "d"))) == ["a": 1, "b": ["d": nil]])
    #expect(throws: MigrationError.self) { try migrate(.rename("a", to: "b")) }
    #expect(throws: MigrationError.self) { try migrate(.each(.remove("a"))) }
  }

  // MARK: - JSON

  @Test(arguments: [
    "null", "true", "false", "0", "-1", "9223372036854775807", "18446744073709551615", "0.1", "-2.5",
    "1e+300",
    "3.14159265358979323846264338327950288", "1234567890.12345678901234567890123", "\"\"", "\"é\\u0000\\n\"",
    "[]",
    "{}", #"{"a":[1,{"b":null}],"c":"d"}"#,
  ]) func `a tree preserves every digit and character`(json: String) throws {
    let tree = try JSONDecoder().decode([JSONTree].self, from: Data("[\(json)]".utf8))
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(
      String(decoding: try encoder.encode(tree), as: UTF8.self).lowercased() == "[\(json)]".lowercased())
    #expect(try JSONDecoder().decode([JSONTree].self, from: encoder.encode(tree)) == tree)
  }
}
