import Foundation
import Repositories
import SystemIO
import TestSupport
import Testing

/// An item whose ``steps`` are those that its schema has: the schema's version less one.
private struct Item: Codable, Equatable, Sendable, Identifiable {
  var id = 1
  var text: String
  var steps = 0
}

/// An app is rolled back, works, and is updated again: what both versions wrote is kept.
@Suite struct RollbackTests {
  enum Kind: CaseIterable, Sendable { case file, memoryAndFile }
  enum Shape: CaseIterable, Sendable { case single, collection }
  enum Choice: CaseIterable, Sendable { case older, newer, merged }

  private typealias Decision<Value: Sendable> = RollbackConflict<Value>.Decision

  /// A version of the app with one item, in either kind of repository.
  private struct App {
    let put: @Sendable (String) throws -> Void
    let text: @Sendable () -> String?
    let flush: @Sendable () async throws -> Void
  }

  private let folder: TemporaryFolder
  private let failing = FailingDisk()
  private let log = EventLog()
  private let asked = Asked()

  /// The conflicts about which the app was asked.
  private final class Asked: Sendable {
    private let conflicts = Lock<[String]>([])

    var all: [String] { conflicts.withLock { $0 } }
    func clear() { conflicts.withLock { $0 = [] } }
    func record(_ older: [Item], _ newer: [Item]) {
      conflicts.withLock { $0.append("\(older.map(\.text)) \(newer.map(\.text))") }
    }
  }

  init() throws { folder = try TemporaryFolder() }

  private static func migrations(_ version: Int, _ shape: Shape) -> Migrations {
    let steps = (1..<5).map { number in
      Migration.step("step \(number)") { tree in tree["steps"] = .integer(number) }
    }
    return Migrations(steps.prefix(version - 1).map { shape == .single ? $0 : .each($0) })
  }

  private func storage<Value: Codable & Sendable>(
    _ kind: Kind, _ file: URL, _ migrations: Migrations, _ decision: @escaping Decision<Value>
  ) -> AnyRepositoryStorage<Value> {
    switch kind {
    case .file:
      FileStorage(
        file: file, migrations: migrations, disk: failing.disk, onEvent: log.record, onRollback: decision
      ).toAny()
    case .memoryAndFile:
      InMemoryStorageWithFilePersistence(
        file: file, migrations: migrations, retryInterval: .seconds(3600), disk: failing.disk,
        onEvent: log.record, onRollback: decision
      ).toAny()
    }
  }

  /// Launches a version of the app, which decides by `choice`, or by default.
  private func launch(
    _ version: Int, _ kind: Kind = .file, _ shape: Shape = .single, _ choice: Choice? = nil,
    at place: URL? = nil
  ) -> App {
    let file = (place ?? folder.url).appending(path: "item.json")
    let migrations = Self.migrations(version, shape)
    switch shape {
    case .single:
      let item = SingleRepository<Item>(
        storage: storage(kind, file, migrations) { [asked] conflict in
          asked.record([conflict.older.value].compactMap(\.self), [conflict.newer.value].compactMap(\.self))
          return switch choice {
          case .older: .older
          case .newer: .newer
          case .merged: .merged(Item(text: "both", steps: version - 1))
          case nil: conflict.newestWrite
          }
        })
      return App(
        put: { try item.put(Item(text: $0, steps: version - 1)) },
        text: {
          let value = item.value
          #expect(value == nil || value?.steps == version - 1)
          return value?.text
        }, flush: { try await item.flush() })
    case .collection:
      let items = CollectionRepository<Item>(
        storage: storage(kind, file, migrations) { [asked] conflict in
          asked.record(conflict.older.value, conflict.newer.value)
          return switch choice {
          case .older: .older
          case .newer: .newer
          case .merged: .merged([Item(text: "both", steps: version - 1)])
          case nil: conflict.newestWrite
          }
        })
      return App(
        put: { try items.put(Item(text: $0, steps: version - 1)) },
        text: {
          #expect(items.all.allSatisfy { $0.steps == version - 1 })
          return items.find(1)?.text
        }, flush: { try await items.flush() })
    }
  }

  private func put(_ text: String, _ version: Int, _ kind: Kind = .file, _ shape: Shape = .single)
    async throws
  {
    let app = launch(version, kind, shape)
    try app.put(text)
    try await app.flush()
  }

  private func contents(_ name: String) throws -> String {
    try String(contentsOf: folder.file(name), encoding: .utf8)
  }

  private var names: [String] { get throws { try Folder.entries(folder.path).sorted() } }

  /// Sets the time at which a file was written.
  private func date(_ name: String, _ seconds: Int64) throws {
    try File(folder.file(name).path, .update).setModifiedAt(seconds * 1000)
  }

  // MARK: - The default

  @Test(arguments: Kind.allCases, Shape.allCases)
  func `the newest write wins, and the newer app's file is kept`(kind: Kind, shape: Shape) async throws {
    try await put("newer", 3, kind, shape)
    let newer = try contents("item.json")
    try date("item.json", 1_000)
    #expect(launch(1, kind, shape).text() == nil)
    try await put("older", 1, kind, shape)

    for _ in 1...2 {
      let again = launch(3, kind, shape)
      #expect(again.text() == "older")
      try await again.flush()
      #expect(try contents("item.json").hasPrefix(#"{"schemaVersion":3,"#))
      #expect(try contents("item.json.version-3") == newer)
    }
    #expect(asked.all == [#"["older"] ["newer"]"#])
    #expect(log.all.contains { $0.reason == "the file of schema 1 is in use instead" })
  }

  @Test(arguments: Kind.allCases, Shape.allCases)
  func `the newer app's file wins if it was written last, and the older app's is kept`(
    kind: Kind, shape: Shape
  ) async throws {
    try await put("newer", 3, kind, shape)
    let newer = try contents("item.json")
    try await put("older", 1, kind, shape)
    let older = try contents("item.json")
    try date("item.json.version-3", 2_000)
    try date("item.json", 1_999)

    let again = launch(3, kind, shape)
    #expect(again.text() == "newer")
    try await again.flush()
    #expect(try contents("item.json") == newer)
    #expect(try contents("item.json.version-1") == older)
    #expect(try names == ["item.json", "item.json.version-1"])
    // Another roll-back finds the older app's file again.
    #expect(launch(1, kind, shape).text() == "older")
    try date("item.json", 1_999)
    #expect(launch(3, kind, shape).text() == "newer")
    #expect(asked.all.count == 2)
  }

  @Test func `an older app that writes nothing decides nothing`() async throws {
    try await put("newer", 3)
    #expect(launch(1).text() == nil)
    #expect(launch(3).text() == "newer")
    #expect(asked.all == [])
    #expect(try names == ["item.json"])
  }

  @Test func `after two roll-backs the newest of three writes wins`() async throws {
    try await put("three", 3)
    try date("item.json", 1_000)
    try await put("two", 2)
    try date("item.json", 3_000)
    #expect(launch(1).text() == nil)
    #expect(try names == ["item.json.version-2", "item.json.version-3"])
    #expect(launch(3).text() == "two")

    try await put("one", 1)
    try date("item.json", 2_000)
    #expect(launch(4).text() == "two")
  }

  @Test func `a model that the older app removed stays removed`() async throws {
    try await put("newer", 3)
    let old = SingleRepository<Item>(storage: FileStorage(file: folder.file("item.json")))
    try old.put(Item(text: "older"))
    try old.remove()
    #expect(try contents("item.json") == #"{"schemaVersion":1,"value":null}"#)
    #expect(launch(3).text() == nil)
    #expect(try names == ["item.json", "item.json.version-3"])
    #expect(try contents("item.json") == #"{"schemaVersion":3,"value":null}"#)
  }

  // MARK: - Decisions

  @Test(arguments: Kind.allCases, Shape.allCases)
  func `the app decides, once`(kind: Kind, shape: Shape) async throws {
    for choice in Choice.allCases {
      for name in try names { try Folder.remove(folder.file(name).path) }
      asked.clear()
      try await put("newer", 3, kind, shape)
      try await put("older", 1, kind, shape)
      for _ in 1...2 {
        let app = launch(3, kind, shape, choice)
        #expect(app.text() == (choice == .merged ? "both" : "\(choice)"))
        try await app.flush()
      }
      #expect(asked.all == [#"["older"] ["newer"]"#])
      let all = try names.map(contents).joined()
      #expect(all.contains(#""text":"newer""#) && all.contains(#""text":"older""#))
    }
  }

  @Test(arguments: Choice.allCases, Shape.allCases)
  func `a crash at any step loses neither value, and the decision is made again`(choice: Choice, shape: Shape)
    async throws
  {
    for kind in Kind.allCases {
      let result = choice == .merged ? "both" : "\(choice)"
      // The acceptable values, and whether both values are on the disk.
      let disk = try PowerCutDisk<(texts: [String?], isBoth: Bool)>(([nil, "newer"], false))
      let place = URL(filePath: disk.path)
      let first = launch(3, kind, shape, choice, at: place)
      try first.put("newer")
      try await first.flush()
      disk.promise { $0 = (["newer", result], false) }
      let old = launch(1, kind, shape, choice, at: place)
      try old.put("older")
      try await old.flush()
      disk.promise { $0 = ([result], true) }
      let again = launch(3, kind, shape, choice, at: place)
      #expect(again.text() == result)
      try await again.flush()
      try await disk.forEachCut { remains in
        let place = URL(filePath: remains.path)
        if remains.promise.isBoth {
          let files = try Folder.entries(remains.path).map { name in
            String(decoding: try Data(contentsOf: place.appending(path: name)), as: UTF8.self)
          }
          let all = files.joined()
          #expect(all.contains(#""text":"newer""#), "\(remains.label)")
          #expect(all.contains(#""text":"older""#), "\(remains.label)")
        }
        let app = launch(3, kind, shape, choice, at: place)
        let text = app.text()
        #expect(remains.promise.texts.contains(text), "\(remains.label)")
        try await app.flush()
      }
    }
  }

  @Test(arguments: Choice.allCases, Kind.allCases)
  func `on a full disk the decision applies in memory, and both values are kept`(choice: Choice, kind: Kind)
    async throws
  {
    let result = choice == .merged ? "both" : "\(choice)"
    try await put("newer", 3, kind)
    try await put("older", 1, kind)
    failing.fault = .writing(ENOSPC)
    for _ in 1...2 {
      let app = launch(3, kind, .single, choice)
      #expect(app.text() == result)
      do { try await app.flush() } catch is RepositoryError {}
      let all = try names.map(contents).joined()
      #expect(all.contains(#""text":"newer""#) && all.contains(#""text":"older""#))
    }
    failing.fault = nil
    let app = launch(3, kind, .single, choice)
    #expect(app.text() == result)
    try await app.flush()
    #expect(try contents("item.json").contains(result))
  }

  @Test func `while one of the two files can't be read, nothing is decided`() async throws {
    try await put("newer", 3)
    try await put("older", 1)
    let before = try names
    for unreadable in ["item.json", "item.json.version-3"] {
      let isLocked = Lock(true)
      let disk = Disk(
        read: { path, limit throws(SystemError) in
          if path.hasSuffix("/\(unreadable)"), isLocked.withLock({ $0 }) {
            throw SystemError(operation: "open", path: path, code: EPERM)
          }
          return try Disk.real.read(path, limit)
        }, replace: Disk.real.replace)
      let item = SingleRepository<Item>(
        storage: FileStorage(
          file: folder.file("item.json"), migrations: Self.migrations(3, .single), disk: disk,
          onRollback: { _ in .newer }))
      #expect(throws: RepositoryError.self) { try item.load() }
      #expect(throws: RepositoryError.self) { try item.put(Item(text: "lost")) }
      #expect(item.value == nil)
      #expect(try names == before)
      guard unreadable != "item.json" else { continue }
      isLocked.withLock { $0 = false }
      #expect(item.value?.text == "newer")
    }
  }

  // MARK: - Collections

  private func collection(
    _ version: Int, _ decision: @escaping Decision<[Item]> = { $0.newestWrite }
  ) -> CollectionRepository<Item> {
    CollectionRepository(
      storage: storage(.file, folder.file("item.json"), Self.migrations(version, .collection), decision))
  }

  @Test(arguments: [true, false])
  func `collections are merged by their ids, and the newest write of a model wins`(isOlderLast: Bool) throws {
    try collection(2).insert(
      Item(id: 1, text: "newer 1", steps: 1), Item(id: 2, text: "newer 2", steps: 1))
    try collection(1).insert(Item(id: 2, text: "older 2"), Item(id: 3, text: "older 3"))
    try date("item.json", 1_000)
    try date("item.json.version-2", isOlderLast ? 999 : 1_001)
    for _ in 1...2 {
      let merged = collection(2) { conflict in conflict.mergedByID() }
      #expect(merged.all.map(\.text) == ["newer 1", isOlderLast ? "older 2" : "newer 2", "older 3"])
    }
  }

  @Test func `elements that can't be decoded are kept from both files when they are merged`() throws {
    try folder.write(
      Data(#"{"schemaVersion":2,"value":[{"id":1,"text":"n","steps":1},{"id":8},{"id":9}]}"#.utf8),
      to: "item.json.version-2")
    try folder.write(
      Data(#"{"schemaVersion":1,"value":[{"id":7},{"id":2,"text":"o","steps":0},{"id":9}]}"#.utf8),
      to: "item.json")
    let merged = collection(2) { conflict in conflict.mergedByID() }
    #expect(merged.all.map(\.id) == [1, 2])
    let text = try contents("item.json")
    for id in 7...8 { #expect(text.components(separatedBy: #"{"id":\#(id)}"#).count == 2) }
    #expect(text.components(separatedBy: #"{"id":9}"#).count == 2)
  }

  @Test func `a merged value that the repository rejects is replaced by the newest write`() throws {
    try collection(2).insert(Item(id: 1, text: "newer", steps: 1))
    try collection(1).insert(Item(id: 1, text: "older"))
    let twice = collection(2) { conflict in .merged(conflict.newer.value + conflict.older.value) }
    #expect(twice.all.map(\.text) == ["older"])
  }

  @Test func `a decision gets both values with their schemas and times`() throws {
    try collection(3).insert(Item(id: 1, text: "newer", steps: 2))
    try collection(2).insert(Item(id: 2, text: "older", steps: 1))
    try date("item.json.version-3", 1_000)
    try date("item.json", 2_000)
    let found = Lock<RollbackConflict<[Item]>?>(nil)
    _ = collection(4) { conflict in
      found.withLock { $0 = conflict }
      return .newer
    }
    let conflict = try #require(found.withLock { $0 })
    #expect(conflict.older.schemaVersion == 2 && conflict.newer.schemaVersion == 3)
    #expect(conflict.older.value == [Item(id: 2, text: "older", steps: 3)])
    #expect(conflict.newer.value == [Item(id: 1, text: "newer", steps: 3)])
    #expect(conflict.older.written == Date(timeIntervalSince1970: 2_000))
    #expect(conflict.newer.written == Date(timeIntervalSince1970: 1_000))
  }
}
