import SystemIO
import Yams

/// The settings file of a server: a YAML document of nested names, each with one value.
///
/// Every entry is either used or refused, and never ignored, so that an administrator notices a mistyped name.
struct SettingsFile: Sendable {
  /// A setting in the file.
  struct Entry: Sendable, Hashable {
    /// The names that lead to the value, joined by dots, such as `server.port`.
    let key: String
    let value: String
    /// Whether the name has no value.
    let isEmpty: Bool
    /// The line number, from 1.
    let line: Int
  }

  /// The maximum size of a settings file.
  static let maximumBytes = 1 << 20

  let path: String
  private(set) var entries: [Entry] = []

  /// Reads the file at `path`, which may be missing unless it `isRequired`.
  init(path: String, isRequired: Bool) throws(CommandFailure) {
    self.path = path
    do {
      guard let text = String(validating: try NamedFile.read(path, limit: Self.maximumBytes), as: UTF8.self)
      else {
        throw CommandFailure("The settings file \(path) is not a text in UTF-8.", status: .refused)
      }
      // The default resolver looks for numbers and times by regular expressions. Here every value is a text.
      guard let root = try Yams.compose(yaml: text, .basic) else { return }
      try add(root, at: [])
    } catch let failure as CommandFailure {
      throw failure
    } catch NamedFile.Failure.missing {
      guard isRequired else { return }
      throw CommandFailure(
        "There is no settings file \(path); create it, or leave --config out to use the defaults.",
        status: .refused)
    } catch let error as NamedFile.Failure {
      throw CommandFailure("Cannot read the settings file \(path): \(error).", status: .refused)
    } catch {
      throw CommandFailure("The settings file \(path) is not valid YAML: \(error)", status: .refused)
    }
  }

  /// The values by key.
  var values: [String: String] { Dictionary(entries.map { ($0.key, $0.value) }) { $1 } }

  /// Describes every setting in the file other than `known`, each with a sentence that states its name and line.
  func problems(allowing known: Set<String>) -> [String] {
    entries.filter { !known.contains($0.key) }.compactMap { entry -> String? in
      let holdsOthers = known.contains { $0.hasPrefix(entry.key + ".") }
      // All settings below it can be commented out.
      if holdsOthers && entry.isEmpty { return nil }
      let what =
        holdsOthers
        ? "The setting \(entry.key) is ‘\(entry.value)’; it contains other settings and takes no value"
        : "There is no setting \(entry.key)"
      return "\(what) (line \(entry.line) of \(path))."
    }
  }

  private mutating func add(_ node: Node, at names: [String]) throws(CommandFailure) {
    let line = node.mark?.line ?? 1
    switch node {
    case .mapping(let mapping):
      for (name, value) in mapping {
        guard let name = name.scalar?.string else {
          throw CommandFailure("Line \(line) of \(path) has a name that is not a text.", status: .refused)
        }
        try add(value, at: names + [name])
      }
      if mapping.isEmpty { enter("", isEmpty: true, at: names, line) }
    case .scalar(let scalar) where names.isEmpty:
      guard node.null != nil else {
        throw CommandFailure(
          "\(path) contains no settings, but the text ‘\(scalar.string)’.", status: .refused)
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
