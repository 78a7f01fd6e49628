import ArgumentParser
import Foundation
import SnapshotClient
import SnapshotFormat

struct InspectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract:
      "Shows what is in a snapshot: who recorded it, which modules are complete, which recordings it has.")

  @Argument(help: "A UUID on the server, a bundle, or a snapshot's folder.")
  var snapshot: String

  @Flag(help: "Print the manifest as JSON.")
  var json = false

  @OptionGroup var options: ServerOptions

  func run() async throws {
    let manifest = try await manifest()
    if json {
      Console.print(String(decoding: try SnapshotJSON.encode(manifest, pretty: true), as: UTF8.self))
    } else {
      for line in ManifestText(manifest).lines { Console.print(line) }
    }
  }

  private func manifest() async throws -> Manifest {
    if let id = SnapshotID(snapshot) {
      let scratch = try ScratchFolder()
      let zip = scratch.file("bundle.zip")
      _ = try await options.client().fetch(id, to: zip)
      return try SnapshotSource.bundle(zip).manifest(depth: .full)
    }
    return try SnapshotSource(snapshot).manifest(depth: .structure)
  }
}
