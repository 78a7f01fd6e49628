import ArgumentParser
import Foundation
import SnapshotClient
import SnapshotFormat

struct FetchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Downloads a snapshot by its UUID or by the address of its bundle.",
    discussion: """
      Continues an interrupted download. The digest is checked before the file is moved to its path. With --into, the \
      bundle is also verified and unpacked. Prints the path of the result.

      A sealed snapshot is opened with --identity: the result is then the bundle that was sealed. Without one, the file \
      stays sealed.
      """)

  @Argument(
    help: """
      A UUID or its beginning, a report, whose newest snapshot is meant, an address such as \
      http://127.0.0.1:8080/snapshots/UUID, or a signed link.
      """)
  var snapshot: String

  @Option(help: ArgumentHelp("Unpack the bundle into this new folder.", valueName: "folder"))
  var into: String?

  @Option(help: ArgumentHelp("Write the bundle to this file (default: UUID.zip).", valueName: "file"))
  var output: String?

  @Flag(help: "Replace the file if it exists.")
  var force = false

  @Flag(help: "Print the UUID, path, size and SHA-256 of the result as JSON.")
  var json = false

  @OptionGroup var options: ReadingOptions

  func validate() throws {
    guard into == nil || output == nil else { throw ValidationError("Pass --into or --output, not both.") }
    guard into == nil || !force else {
      throw ValidationError(
        "--force applies to a file; it cannot be used with --into, which needs a new folder.")
    }
  }

  private struct Result: Encodable {
    let id: SnapshotID
    let path: String
    let size: Int64
    let sha256: ContentDigest
  }

  /// Opens what was fetched, if it is sealed, and unpacks it if that is asked for.
  /// - Returns: The size and digest of the bundle that replaced a sealed one.
  private func open(
    _ zip: URL, in scratch: ScratchFolder
  ) throws(CommandFailure) -> (size: Int64, sha256: ContentDigest)? {
    do {
      if let into {
        guard case .bundle(let inner) = try options.unsealed(.bundle(zip), in: scratch) else { return nil }
        _ = try SnapshotBundle.unpack(zip: inner, into: URL(filePath: into))
        return nil
      }
      guard let sealed = SnapshotBundle.sealedContents(of: zip) else { return nil }
      guard options.hasIdentity else {
        Console.message(
          "The snapshot is sealed to \(Console.escaped(sealed.summary)), and the file stays sealed; --identity FILE opens it."
        )
        return nil
      }
      let identities = try options.identities()
      let opened = try SnapshotBundle.unseal(zip: zip, with: identities, to: zip)
      return (opened.size, opened.sha256)
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure("\(error)", status: .refused)
    }
  }

  func run() async throws {
    let (address, client) = try await options.server.resolve(snapshot)
    let path = into ?? output ?? "\(address.id).zip"
    if into != nil {
      try NewPath.check(path, kind: "folder")
    } else if !force {
      try NewPath.check(path, kind: "file", mend: "name another file, or pass --force to replace it")
    }
    let scratch = try ScratchFolder()
    let zip = into == nil ? URL(filePath: path) : scratch.file("\(address.id).zip")
    let line = ProgressLine("Fetching")
    defer { line.finish() }
    let fetched = try await client.fetch(address, to: zip, progress: line.show)
    line.finish()
    Console.message("Fetched \(Console.size(fetched.size)), SHA-256 \(fetched.sha256).")
    let bundle = try open(zip, in: scratch) ?? (fetched.size, fetched.sha256)
    if json {
      Console.print(
        json: Result(id: address.id, path: path, size: bundle.size, sha256: bundle.sha256))
    } else {
      Console.print(path)
    }
  }
}
