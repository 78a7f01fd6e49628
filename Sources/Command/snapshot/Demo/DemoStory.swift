import ArgumentParser
import DataSnapshots
import Foundation
import HTTPEngine
import Logging
import SnapshotClient
import SnapshotFormat
import SnapshotServer

/// The story of the demo. Every step is actually carried out, and described in a line.
struct DemoStory {
  /// The folder for all files of the demo.
  let folder: URL
  private let report: ReportID
  private let transport = SnapshotAPIClient.makeDefaultTransport()

  init(folder: URL) throws {
    self.folder = folder
    report = try ReportID(validating: "DEMO-1")
  }

  /// Starts the servers, runs the story, and stops the servers.
  func tell() async throws {
    let newspaper = NewsServer(try NewsEdition(NewsEdition.yesterday))
    let newspaperServer = HTTPServer(
      configuration: .init(host: "127.0.0.1", port: 0), handler: newspaper, logger: Self.silent)
    let application = try await ServerApplication.open(
      ServerSettings(port: 0, storage: folder.appending(path: "storage").path),
      version: ProductVersion.current, logger: Self.silent)
    let told: Result<Void, any Error>
    do {
      try await tell(
        newspaper, at: URL(of: newspaperServer.start()), keptAt: URL(of: application.start()))
      told = .success(())
    } catch {
      told = .failure(error)
    }
    await newspaperServer.shutdown(deadline: .seconds(5))
    await application.close(deadline: .seconds(5))
    try told.get()
  }

  private func tell(_ newspaper: NewsServer, at newspaperAddress: URL, keptAt server: URL) async throws {
    step("A snapshot server runs at \(server.absoluteString), with its storage in a temporary folder.")

    let annas = makeApp("anna", newspaper: newspaperAddress)
    annas.snapshots.state = .recording
    let seen = try await annas.loadAll()
    let whatAnnaSaw = try await annas.frontPage()
    let bytes = Console.size(Int64(seen.values.reduce(0) { $0 + $1.count }))
    step("Anna reads the news. Her app records the \(seen.count) answers it gets, \(bytes) of JSON.")
    show("her front page", whatAnnaSaw)

    await annas.snapshots.flush()
    step("The app reports which of its modules are recorded completely:")
    for line in "\(await annas.snapshots.report())".split(separator: "\n") { detail(String(line)) }

    let zip = folder.appending(path: "snapshot.zip")
    let packed = try await annas.snapshots.makeSnapshot(report: report, to: zip)
    let client = try SnapshotAPIClient(server: server, transport: transport)
    let record = try await client.attach(zip, to: report, as: packed.manifest.id)
    step("“-99.9 degrees?” Anna reports a bug, and the app attaches what it recorded:")
    detail("report \(record.report), snapshot \(record.id), \(Console.size(record.size)) zipped")

    newspaper.publish(try NewsEdition(NewsEdition.today))
    let developers = makeApp("developer", newspaper: newspaperAddress)
    let today = try await developers.loadAll()
    let changed = seen.count { today[$0.key] != $0.value }
    step("A day passes: \(changed) of \(seen.count) answers have changed. A developer opens the app.")
    show("the developer’s front page", try await developers.frontPage())
    guard try await developers.frontPage() != whatAnnaSaw else {
      throw CommandFailure("The newspaper did not change, so the demo cannot continue.")
    }

    let fetched = folder.appending(path: "fetched.zip")
    try await client.fetch(record.id, to: fetched)
    let manifest = try await developers.snapshots.activate(bundle: fetched)
    step(
      "The report refers to the snapshot. The developer fetches it by its UUID, verifies its digest, and activates it."
    )
    show("the developer’s front page now", try await developers.frontPage())

    let replayed = try await developers.loadAll()
    let same = seen.count { replayed[$0.key] == $0.value }
    guard same == seen.count else {
      throw CommandFailure(
        "Only \(same) of \(seen.count) answers equal those that the user saw.", status: .refused)
    }
    step(
      "\(same) of \(seen.count) answers equal, byte for byte, those that Anna saw. Now the bug can be reproduced."
    )

    let tests = folder.appending(path: "Tests")
    try FileManager.default.createDirectory(at: tests, withIntermediateDirectories: true)
    let written = WrittenTest(name: try TestName(report.description), manifest: manifest)
    try written.write(fixture: fetched, into: tests)
    step(
      "`snapshot test \(report) --into Tests` makes a test of the report, which is red until the bug is mended:"
    )
    detail("\(written.name.file), with Anna’s data in \(written.name.fixture)")
    detail("A sample app has three such tests with their mends: swift test --filter NewsReaderTests")
  }

  private func makeApp(_ owner: String, newspaper: URL) -> NewsApp {
    var configuration = SnapshotMode.Configuration()
    configuration.application = .init(identifier: "com.example.news", version: "3.1.4", build: "159")
    let snapshots = SnapshotMode(folder: folder.appending(path: owner), configuration: configuration)
    for module in NewsApp.modules { snapshots.register(module: module.name, files: module.files) }
    return NewsApp(newspaper: newspaper, transport: transport, snapshots: snapshots)
  }

  private func step(_ text: String) { Console.print("\n" + Console.bold("▸ \(text)")) }
  private func detail(_ text: String) { Console.print("    \(text)") }
  private func show(_ title: String, _ screen: String) { detail("\(title): \(screen)") }

  private static let silent = Logger(label: "demo") { _ in SwiftLogNoOpLogHandler() }
}

struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Demonstrates the product with a sample app: record, attach, fetch by UUID, replay.",
    discussion:
      "Uses a temporary folder and free ports of the loopback address. Removes all files at the end."
  )

  @Flag(help: "Keep the folder, and print its path.")
  var keep = false

  func run() async throws {
    let scratch = try ScratchFolder(keep: keep)
    try await DemoStory(folder: scratch.url).tell()
    if keep { Console.message("The files of the demo are in \(scratch.url.path).") }
  }
}
