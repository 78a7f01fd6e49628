import ArgumentParser
import Foundation
import SnapshotClient

struct OpenCommand: AsyncParsableCommand {
  #if os(macOS)
    private static let opener = "open"
  #else
    private static let opener = "xdg-open"
  #endif

  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Opens the page of a snapshot in the browser.",
    discussion: "Prints the address of the page. Opens it by the program `\(opener)`.")

  @Argument(help: "A UUID or its beginning, a report, whose newest snapshot is meant, or an address.")
  var snapshot: String

  @Flag(name: .customLong("print"), help: "Only print the address.")
  var onlyPrints = false

  @OptionGroup var options: ServerOptions

  func run() async throws {
    let (reference, client) = try await options.resolve(snapshot)
    let address = "\(client.server)/snapshots/\(reference.id)"
    Console.print(address)
    if !onlyPrints { try open(address) }
  }

  private func open(_ address: String) throws(CommandFailure) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [Self.opener, address]
    // The result of the command is the address alone.
    process.standardOutput = FileHandle.standardError
    do { try process.run() } catch {
      throw CommandFailure("No browser was opened, because \(Self.opener) can't be started: \(error)")
    }
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw CommandFailure(
        "No browser was opened: \(Self.opener) failed or is not installed. Open the printed address yourself."
      )
    }
  }
}
