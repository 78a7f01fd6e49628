import DataSnapshots
import Foundation
import HTTPEngine
import Logging
import SnapshotClient
import SnapshotFormat

/// The story that the demo tells: every step is done for real, and told in a line.
struct DemoStory {
  /// Where everything lies.
  let folder: URL
  private let report: ReportID
  private let transport = SnapshotAPIClient.makeDefaultTransport()

  init(folder: URL) throws {
    self.folder = folder
    report = try ReportID(validating: "DEMO-1")
  }

  /// Runs the servers, tells the story, and ends them.
  func tell() async throws {
    let newspaper = NewsServer(try NewsEdition(NewsEdition.yesterday))
    let newspaperServer = HTTPServer(
      configuration: .init(host: "127.0.0.1", port: 0), handler: newspaper, logger: Self.silent)
    let application = try await ServerApplication(
      ServerSettings(port: 0, storage: folder.appending(path: "storage").path), logger: Self.silent)
    try await newspaperServer.serving { newspaperAddress in
      try await application.server.serving { address in
        try await tell(newspaper, at: newspaperAddress, keptAt: address)
      }
    }
    await application.close()
  }

  private func tell(_ newspaper: NewsServer, at newspaperAddress: URL, keptAt server: URL) async throws {
    step("A server keeps snapshots on \(server.absoluteString), in a temporary folder.")

    let annas = makeApp("anna", newspaper: newspaperAddress)
    annas.snapshots.state = .recording
    let seen = try await annas.loadAll()
    let whatAnnaSaw = try await annas.frontPage()
    let bytes = Console.size(Int64(seen.values.reduce(0) { $0 + $1.count }))
    step("Anna reads the news. Her app records the \(seen.count) answers it gets, \(bytes) of JSON.")
    show("her front page", whatAnnaSaw)

    await annas.snapshots.flush()
    step("The app knows which of its modules are recorded whole:")
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
    step("A day passes: \(changed) of \(seen.count) answers have changed. A developer looks at the app.")
    show("the developer’s front page", try await developers.frontPage())
    guard try await developers.frontPage() != whatAnnaSaw else {
      throw CommandFailure("The newspaper did not change, so there is nothing to show.")
    }

    let fetched = folder.appending(path: "fetched.zip")
    try await client.fetch(record.id, to: fetched)
    try await developers.snapshots.activate(bundle: fetched)
    step(
      "The report names the snapshot. The developer fetches it by UUID, its digest is right, and it is activated."
    )
    show("the developer’s front page now", try await developers.frontPage())

    let replayed = try await developers.loadAll()
    let same = seen.count { replayed[$0.key] == $0.value }
    guard same == seen.count else {
      throw CommandFailure("Only \(same) of \(seen.count) answers are what the user saw.", status: .refused)
    }
    step("\(same) of \(seen.count) answers are, byte for byte, what Anna saw. Now the bug can be looked at.")
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
