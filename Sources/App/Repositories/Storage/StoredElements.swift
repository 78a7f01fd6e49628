import Foundation
import JSONText

/// The elements of a stored array, migrated and decoded one by one, so that one that can't be decoded does not affect
/// the others.
struct StoredElements<Model: Decodable & Identifiable> {
  private(set) var models: [Model] = []
  private(set) var undecoded: [UndecodedElement] = []
  /// The number of elements that can be decoded, but could not be when the file was written.
  private(set) var decodedAgain = 0
  /// The number of elements that can't be used, and the reasons for the first ones; `nil` if there are none.
  private(set) var failures: String?

  private let migrations: Migrations
  /// All elements in their order.
  private var items: [Item] = []

  private struct Item {
    /// The schema that the element has reached.
    var version: Int
    /// The element as it is written, and its schema; `nil` after a step that changes the whole array.
    var written: (version: Int, json: [UInt8])?
    /// The migrated element; `nil` if no step was applied.
    var tree: JSONTree?
    /// Whether it could not be decoded when the file was written.
    var wasUndecoded = false
    /// Why it can't be used.
    var failure: String?
  }

  /// - Throws: if the value is not an array, and the migrations make none of it.
  init(_ bytes: [UInt8], version: Int, migrations: Migrations) throws {
    self.migrations = migrations
    let parts = try StoredParts(bytes, version: version)
    if let elements = parts.elements {
      items = elements.map { Item(version: version, written: (version, $0)) }
    } else {
      items = try Self.elements(madeOf: bytes, version: version, migrations)
    }
    for element in parts.undecoded {
      items.insert(
        Item(
          version: element.schemaVersion, written: (element.schemaVersion, element.json), wasUndecoded: true),
        at: min(element.position, items.count))
    }
    migrate()
    try decode()
  }

  // MARK: - Migrations

  /// Migrates a value until it is an array.
  private static func elements(
    madeOf bytes: [UInt8], version: Int, _ migrations: Migrations
  ) throws -> [Item] {
    var tree = try StoredJSON.makeDecoder().decode(StoredJSON.Envelope<JSONTree>.self, from: Data(bytes))
      .value
    for next in version..<max(version, migrations.version) {
      tree = try migrations.migrateOnce(tree, from: next)
      if let elements = tree.array { return elements.map { Item(version: next + 1, tree: $0) } }
    }
    throw JSONTree.Mismatch(reason: "\(tree.kind) is not an array")
  }

  private mutating func migrate() {
    guard let oldest = items.map(\.version).min() else { return }
    for version in oldest..<max(oldest, migrations.version) {
      // Elements that were set aside by an earlier version join the others at their own schema.
      let group = items.indices.filter { items[$0].version == version && items[$0].failure == nil }
      var readable: [Int] = []
      for index in group {
        do {
          if items[index].tree == nil { items[index].tree = try tree(of: index) }
          readable.append(index)
        } catch {
          items[index].failure = "\(error)"
        }
      }
      migrate(readable, from: version)
    }
  }

  private func tree(of index: Int) throws -> JSONTree {
    try StoredJSON.makeDecoder().decode(JSONTree.self, from: Data(items[index].written?.json ?? []))
  }

  /// Migrates these elements by one step. A step changes the whole array; if it can't, then without those elements that
  /// it can't change on their own.
  private mutating func migrate(_ group: [Int], from version: Int) {
    guard !group.isEmpty else { return }
    do {
      try apply(group, from: version)
    } catch {
      var good: [Int] = []
      for index in group {
        do {
          _ = try migrations.migrateOnce(.array([items[index].tree ?? .null]), from: version)
          good.append(index)
        } catch {
          items[index].failure = "\(error)"
        }
      }
      do {
        guard good.count < group.count else { throw error }
        if !good.isEmpty { try apply(good, from: version) }
      } catch {
        for index in good { items[index].failure = "\(error)" }
      }
    }
  }

  private mutating func apply(_ group: [Int], from version: Int) throws {
    let tree = try migrations.migrateOnce(.array(group.map { items[$0].tree ?? .null }), from: version)
    guard let results = tree.array else {
      throw JSONTree.Mismatch(reason: "\(tree.kind) is not an array")
    }
    for (index, result) in zip(group, results) {
      items[index].version = version + 1
      items[index].tree = result
      if !migrations.isElementwise(from: version) { items[index].written = nil }
    }
    // The step has removed or added elements.
    for index in group.dropFirst(results.count).reversed() { items.remove(at: index) }
    if let last = group.last, results.count > group.count {
      let added = results.dropFirst(group.count).map { Item(version: version + 1, tree: $0) }
      items.insert(contentsOf: added, at: last + 1)
    }
  }

  // MARK: - Decoding

  private mutating func decode() throws {
    let decoder = StoredJSON.makeDecoder()
    var decoded: [Int: Model] = [:]
    for index in items.indices where items[index].failure == nil {
      guard items[index].version <= migrations.version else {
        items[index].failure = "it has schema \(items[index].version)"
        continue
      }
      do {
        decoded[index] = try decoder.decode(Model.self, from: Data(json(of: items[index]).json))
      } catch {
        items[index].failure = "\(error)"
      }
    }
    // A model that the app has stored under an id since then is newer than an element that it could not decode.
    var ids: Set<Model.ID> = []
    for wasUndecoded in [false, true] {
      for index in items.indices where items[index].wasUndecoded == wasUndecoded {
        guard let id = decoded[index]?.id, !ids.insert(id).inserted else { continue }
        items[index].failure = "a model with the id \(id) already exists"
      }
    }
    var reasons: [String] = []
    for (index, item) in items.enumerated() {
      if let model = decoded[index], item.failure == nil {
        models.append(model)
        if item.wasUndecoded { decodedAgain += 1 }
      } else {
        var id: UndecodedElement.ID?
        if let known = try decoded[index]?.id ?? Self.id(of: json(of: item).json, decoder) {
          id = .init(known)
        }
        let (version, json) = try item.written ?? json(of: item)
        undecoded.append(UndecodedElement(position: index, schemaVersion: version, json: json, id: id))
        if reasons.count < 3 { reasons.append("[\(index)]: \(item.failure ?? "")") }
      }
    }
    guard !undecoded.isEmpty else { return }
    failures =
      "\(undecoded.count) of \(items.count) elements can't be decoded and are kept: "
      + reasons.joined(separator: "; ")
  }

  /// The element with the schema that it has reached.
  private func json(of item: Item) throws -> (version: Int, json: [UInt8]) {
    if item.tree == nil, let written = item.written { return written }
    return (item.version, Array(try StoredJSON.makeEncoder().encode(item.tree ?? .null)))
  }

  /// The id of an element that can't be decoded, if its property is named so.
  private static func id(of json: [UInt8], _ decoder: JSONDecoder) -> Model.ID? {
    // A cast, because an id does not have to be `Decodable`, but often is.
    guard let type = Model.ID.self as? any Decodable.Type else { return nil }
    return id(of: json, decoder, type)
  }

  private static func id<ID: Decodable>(of json: [UInt8], _ decoder: JSONDecoder, _: ID.Type) -> Model.ID? {
    do {
      return try decoder.decode(Identified<ID>.self, from: Data(json)).id as? Model.ID
    } catch {
      return nil
    }
  }
}

/// The part of an element that is decoded if the whole can't be.
private struct Identified<ID: Decodable>: Decodable {
  let id: ID
}
