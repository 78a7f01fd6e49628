import ArgumentParser
import Foundation
import SnapshotFormat
import SnapshotSealing
import SystemIO

/// The options of commands that read what is in a snapshot: its server, and the identities that open it if it is sealed.
struct ReadingOptions: ParsableArguments {
  /// The environment variable with the path of an identity file.
  static let identityVariable = "SNAPSHOT_IDENTITY"

  @Option(
    help: ArgumentHelp(
      "A file with identities that open sealed snapshots, as age-keygen writes it. Can be repeated (environment: SNAPSHOT_IDENTITY).",
      valueName: "file"))
  var identity: [String] = []

  @OptionGroup var server: ServerOptions

  /// Whether there is an identity to open sealed snapshots with.
  var hasIdentity: Bool { !files.isEmpty }

  private var files: [String] {
    if !identity.isEmpty { return identity }
    let path = ProcessInfo.processInfo.environment[Self.identityVariable] ?? ""
    return path.isEmpty ? [] : [path]
  }

  /// All identities of the named files.
  func identities() throws(CommandFailure) -> [SealingIdentity] {
    var identities: [SealingIdentity] = []
    for file in files { identities += try NamedIdentities.read(file) }
    return identities
  }

  /// Opens `source` in the folder of `scratch` if it is a sealed bundle, and returns it as it is otherwise. This is where
  /// every command opens what is sealed.
  func unsealed(_ source: SnapshotSource, in scratch: ScratchFolder) throws(CommandFailure) -> SnapshotSource
  {
    guard case .bundle(let zip) = source, let sealed = SnapshotBundle.sealedContents(of: zip) else {
      return source
    }
    guard hasIdentity else {
      throw CommandFailure(
        """
        The snapshot is sealed to \(Console.escaped(sealed.summary)); pass --identity FILE, or the path of the file in \
        \(Self.identityVariable).
        """, status: .refused)
    }
    let identities = try identities()
    let inner = scratch.file("inner-\(UUID().uuidString).zip")
    do { _ = try SnapshotBundle.unseal(zip: zip, with: identities, to: inner) } catch {
      throw CommandFailure(error.description, status: .refused)
    }
    return .bundle(inner)
  }
}
