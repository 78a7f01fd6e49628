import ArgumentParser
import SnapshotFormat

/// The options with which a command takes the user's words about a snapshot.
struct UserWords: ParsableArguments {
  /// Names that the form of an upload uses itself.
  private static let reserved = ["note", "snapshot", "expires"]

  @Option(help: ArgumentHelp("What the user wrote about the bug, up to 32 KiB.", valueName: "text"))
  var note: String?

  @Option(
    name: .customLong("field"),
    help: ArgumentHelp(
      "A further description, such as severity=high. Can be repeated.", valueName: "name=value"))
  var list: [String] = []

  /// The fields by name.
  var fields: [String: String] {
    list.reduce(into: [:]) { fields, text in
      guard let (name, value) = Self.parts(text) else { return }
      fields[name] = value
    }
  }

  var isEmpty: Bool { note == nil && list.isEmpty }

  func validate() throws {
    let limits = Manifest.Limits.default
    if let note, note.utf8.count > limits.noteLength {
      throw ValidationError(
        "--note takes at most \(limits.noteLength) bytes; this one has \(note.utf8.count).")
    }
    var names: Set<String> = []
    for text in list {
      guard let (name, _) = Self.parts(text), !name.isEmpty else {
        throw ValidationError("--field takes a name and a value, such as severity=high.")
      }
      guard !Self.reserved.contains(name) else {
        throw ValidationError("--field can't have the name ‘\(name)’\(name == "note" ? "; use --note" : "").")
      }
      guard names.insert(name).inserted else {
        throw ValidationError("--field ‘\(Console.escaped(name))’ is given twice.")
      }
    }
  }

  private static func parts(_ text: String) -> (name: String, value: String)? {
    guard let sign = text.firstIndex(of: "=") else { return nil }
    return (String(text[..<sign]), String(text[text.index(after: sign)...]))
  }
}
