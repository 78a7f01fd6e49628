import ArgumentParser
import Foundation

struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Shows the whole story on a sample app: record, attach, fetch by UUID, replay.",
    discussion: "Everything lies in a temporary folder and on free ports of loopback; nothing is left behind."
  )

  @Flag(help: "Leave the folder, and say where it is.")
  var keep = false

  func run() async throws {
    let scratch = try ScratchFolder(keep: keep)
    try await DemoStory(folder: scratch.url).tell()
    if keep { Console.note("Everything that the demo made is in \(scratch.url.path).") }
  }
}
