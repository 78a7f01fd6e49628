import Foundation
import Yams

/// The file of a server's settings: YAML, whose names lead to one value each.
///
/// What is read from it is taken or refused, never passed over: an administrator who mistypes a limit has to learn it.
struct SettingsFile: Sendable {
  /// What the file sets.
  struct Entry: Sendable, Hashable {
    /// The names that lead there, such as `server.port`.
    let key: String
    let value: String
    /// Whether nothing stands behind the name.
    let isEmpty: Bool
    /// From 1.
    let line: Int
  }

  let path: String
  private(set) var entries: [Entry] = []

  /// Reads the file at `path`, which may be missing unless it `isRequired`.
  init(path: String, isRequired: Bool) throws(CommandFailure) {
    self.path = path
    do {
      let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
      guard let root = try Yams.compose(yaml: text) else { return }
      try add(root, at: [])
    } catch let failure as CommandFailure {
      throw failure
    } catch CocoaError.fileReadNoSuchFile where !isRequired {
      return
    } catch {
      throw CommandFailure("The settings in \(path) can't be read: \(error)", status: .refused)
    }
  }

  /// What is set, by key.
  var values: [String: String] { Dictionary(entries.map { ($0.key, $0.value) }) { $1 } }

  /// Throws where something is set that is none of the settings `known`, and names it.
  func refuse(allBut known: Set<String>) throws(CommandFailure) {
    for entry in entries where !known.contains(entry.key) {
      let holdsOthers = known.contains { $0.hasPrefix(entry.key + ".") }
      // All below it may stand in comments.
      if holdsOthers && entry.isEmpty { continue }
      let what =
        holdsOthers
        ? "The setting \(entry.key) is ‘\(entry.value)’; it holds other settings, and has no value itself"
        : "There is no setting \(entry.key)"
      throw CommandFailure("\(what) (line \(entry.line) of \(path)).", status: .refused)
    }
  }

  private mutating func add(_ node: Node, at names: [String]) throws(CommandFailure) {
    let line = node.mark?.line ?? 1
    switch node {
    case .mapping(let mapping):
      for (name, value) in mapping {
        guard let name = name.scalar?.string else {
          throw CommandFailure("Line \(line) of \(path) has no name for what it sets.", status: .refused)
        }
        try add(value, at: names + [name])
      }
      if mapping.isEmpty { enter("", isEmpty: true, at: names, line) }
    case .scalar(let scalar) where names.isEmpty:
      guard node.null != nil else {
        throw CommandFailure("\(path) sets nothing: it says ‘\(scalar.string)’.", status: .refused)
      }
    case .scalar(let scalar): enter(scalar.string, isEmpty: node.null != nil, at: names, line)
    case .sequence, .alias:
      let key = names.isEmpty ? "The file \(path)" : "The setting \(names.joined(separator: "."))"
      throw CommandFailure(
        "\(key) is a list; it takes one value (line \(line) of \(path)).", status: .refused)
    }
  }

  private mutating func enter(_ value: String, isEmpty: Bool, at names: [String], _ line: Int) {
    guard !names.isEmpty else { return }
    entries.append(
      Entry(key: names.joined(separator: "."), value: value, isEmpty: isEmpty, line: line))
  }
}
