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

  @OptionGroup var options: ServerOptions

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

  func run() async throws {
    let (address, client) = try await options.resolve(snapshot)
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
    let bundle = try await client.fetch(address, to: zip, progress: line.show)
    line.finish()
    if let into {
      do {
        _ = try SnapshotBundle.unpack(zip: zip, into: URL(filePath: into))
      } catch {
        throw CommandFailure(error.description, status: .refused)
      }
    }
    Console.message("Fetched \(Console.size(bundle.size)), SHA-256 \(bundle.sha256).")
    if json {
      Console.print(
        json: Result(id: address.id, path: path, size: bundle.size, sha256: bundle.sha256))
    } else {
      Console.print(path)
    }
  }
}
