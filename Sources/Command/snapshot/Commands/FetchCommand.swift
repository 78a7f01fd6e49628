import ArgumentParser
import Foundation
import SnapshotClient
import SnapshotFormat

struct FetchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch",
    abstract: "Downloads a snapshot by its UUID, or by the address of its bundle.",
    discussion: """
      A download that broke off goes on where it stopped. Nothing is put in place before its digest is right; \
      with --into the bundle is checked whole and unpacked. Prints where the result lies.
      """)

  @Argument(help: "A UUID, an address such as http://127.0.0.1:8080/v1/snapshots/UUID.zip, or a link to it.")
  var snapshot: String

  @Option(help: ArgumentHelp("A new folder to unpack into.", valueName: "folder"))
  var into: String?

  @Option(help: ArgumentHelp("The file to write (default: UUID.zip).", valueName: "file"))
  var output: String?

  @OptionGroup var options: ServerOptions

  func validate() throws {
    guard into == nil || output == nil else { throw ValidationError("Give --into or --output, not both.") }
  }

  func run() async throws {
    let (address, client) = try options.resolve(snapshot)
    if let into { try NewPath.check(into, kind: "folder") }
    let scratch = try ScratchFolder()
    let zip = into == nil ? URL(filePath: output ?? "\(address.id).zip") : scratch.file("\(address.id).zip")
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
    Console.note("Fetched \(Console.size(bundle.size)), SHA-256 \(bundle.sha256).")
    Console.print(into ?? zip.relativePath)
  }
}
