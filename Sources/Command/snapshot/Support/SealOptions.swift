import ArgumentParser
import Foundation
import SnapshotFormat
import SnapshotSealing

/// The options with which a command seals the bundle that it makes.
struct SealOptions: ParsableArguments {
  private static let parts = Manifest.HeadPart.allCases.map(\.rawValue).joined(separator: ", ")

  @Option(
    name: .customLong("seal-to"),
    help: ArgumentHelp(
      "Seal the bundle for this public key, as `snapshot keys create` and age-keygen print it. Can be repeated.",
      valueName: "age1…"))
  var recipients: [String] = []

  @Option(
    help: ArgumentHelp(
      "What a sealed bundle shows to everybody: \(parts), or none. Can be repeated (default: application, device).",
      valueName: "part"))
  var show: [String] = []

  func validate() throws {
    guard show.isEmpty || !recipients.isEmpty else {
      throw ValidationError("--show says what a sealed bundle shows; it needs --seal-to.")
    }
    for part in show where part != "none" && Manifest.HeadPart(rawValue: part) == nil {
      throw ValidationError(
        "--show takes \(Self.parts), or none; ‘\(Console.escaped(String(part.prefix(100))))’ is not one of them."
      )
    }
    guard !show.contains("none") || show.count == 1 else {
      throw ValidationError("--show none excludes other parts.")
    }
  }

  /// Whether the bundle is sealed.
  var isEmpty: Bool { recipients.isEmpty }

  /// Seals the bundle `zip` into `sealed`.
  func seal(_ zip: URL, to sealed: URL) throws(CommandFailure) {
    let keys = try Self.recipients(recipients)
    let parts = show.isEmpty ? .usual : Set(show.compactMap(Manifest.HeadPart.init))
    do { _ = try SnapshotBundle.seal(zip: zip, to: keys, showing: parts, to: sealed) } catch {
      throw CommandFailure(error.description, status: .refused)
    }
  }

  /// The recipients that arguments name.
  static func recipients(_ texts: [String]) throws(CommandFailure) -> [SealingRecipient] {
    do { return try texts.map { text throws(SealingError) in try SealingRecipient(text) } } catch {
      throw CommandFailure(error.description, status: .refused)
    }
  }
}
