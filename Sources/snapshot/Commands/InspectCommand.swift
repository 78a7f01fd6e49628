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

/// A manifest in words, within 80 columns where its own texts allow.
struct ManifestText {
  let lines: [String]

  init(_ manifest: Manifest) {
    let recorded = Set(manifest.recordings.map(\.identifier))
    var lines = [
      "Snapshot     \(manifest.id)",
      "Made         \(manifest.createdAt.formatted(.iso8601))",
      "Application  \(manifest.application.identifier) \(manifest.application.version) "
        + "(\(manifest.application.build))",
      "Device       \(manifest.device.model), \(manifest.device.system) \(manifest.device.systemVersion), "
        + manifest.device.locale,
    ]
    if let report = manifest.report { lines.append("Report       \(report)") }
    if !manifest.redactions.isEmpty {
      lines.append("Redacted by  \(manifest.redactions.joined(separator: ", "))")
    }
    for module in manifest.modules {
      let missing = module.files.filter { !recorded.contains($0) }
      let state = missing.isEmpty ? "complete" : "missing \(missing.joined(separator: ", "))"
      lines.append("Module       \(module.name): \(state)")
    }
    lines.append("Recordings   \(manifest.recordings.count)")
    for recording in manifest.recordings.sorted(by: {
      ($0.identifier, $0.call ?? 0) < ($1.identifier, $1.call ?? 0)
    }) {
      let size = Console.size(recording.size)
      lines.append(
        String(repeating: " ", count: max(0, 11 - size.count)) + "\(size)  \(recording.identifier)")
    }
    // Identifiers come from whoever recorded.
    self.lines = lines.map(Console.escaped)
  }
}
