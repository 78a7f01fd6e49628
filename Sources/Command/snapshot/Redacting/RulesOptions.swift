import ArgumentParser
import DataSnapshots
import Foundation
import Redaction
import SnapshotFormat

/// The options of commands that look for secrets.
struct RulesOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A file with redaction rules (default: the rules that an app calls usualSecrets).", valueName: "file"))
  var rules: String?

  @Flag(help: "Leave the user's own words, the note and the fields, as they are.")
  var keepWords = false

  /// Redacts the snapshot `source` in a folder of `scratch`.
  func redact(_ source: SnapshotSource, in scratch: ScratchFolder) throws(CommandFailure) -> RedactedCopy {
    try Self.redact(source, by: Self.read(rules), keepsWords: keepWords, in: scratch)
  }

  /// Redacts the snapshot `source` in the folder `redacted` of `scratch`.
  /// - Parameter isReproducible: whether the same snapshot and rules always give the same copy.
  static func redact(
    _ source: SnapshotSource, by rules: RedactionRules, keepsWords: Bool, isReproducible: Bool = false,
    in scratch: ScratchFolder
  ) throws(CommandFailure) -> RedactedCopy {
    let folder = scratch.file("redacted")
    let manifest: Manifest
    let zip = try source.packed(to: scratch.file("original.zip")).url
    do { manifest = try SnapshotBundle.unpack(zip: zip, into: folder) } catch {
      throw CommandFailure(error.description, status: .refused)
    }
    let copy = try RedactedCopy(
      of: manifest, in: folder, by: rules, keepsWords: keepsWords, isReproducible: isReproducible)
    for name in copy.idleRules { Console.message("The path of the rule ‘\(name)’ matched nothing.") }
    return copy
  }

  /// Reads the rules in the file at the path `rules`, or returns the usual ones.
  static func read(_ rules: String?) throws(CommandFailure) -> RedactionRules {
    guard let rules else { return RedactionRules(.usualSecrets) }
    let json: Data
    do { json = try Data(contentsOf: URL(filePath: rules)) } catch {
      throw CommandFailure(
        "The rules in \(rules) can't be read: \(error.localizedDescription)", status: .refused)
    }
    do { return try RedactionRules(json: json) } catch {
      throw CommandFailure("\(rules): \(error.description).", status: .refused)
    }
  }
}
