import ArgumentParser
import SnapshotClient
import SnapshotFormat

struct OpenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Opens the page of a snapshot in the browser.",
    discussion: "Prints the address of the page. Opens it by the program `\(SystemBrowser.opener)`.")

  @Argument(help: "A UUID or its beginning, a report, whose newest snapshot is meant, or an address.")
  var snapshot: String

  @Flag(name: .customLong("print"), help: "Only print the address.")
  var onlyPrints = false

  @Flag(help: "Print the UUID and the address as JSON.")
  var json = false

  @OptionGroup var options: ServerOptions

  private struct Result: Encodable {
    let id: SnapshotID
    let url: String
  }

  func run() async throws {
    let (reference, client) = try await options.resolve(snapshot)
    let address = "\(client.server)/snapshots/\(reference.id)"
    if json {
      Console.print(json: Result(id: reference.id, url: address))
    } else {
      Console.print(address)
    }
    if !onlyPrints { try await SystemBrowser.open(address) }
  }
}
