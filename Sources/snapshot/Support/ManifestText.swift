import Foundation
import SnapshotFormat

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
    for recording in manifest.recordings.sorted(by: { $0.identifier < $1.identifier }) {
      let size = Console.size(recording.size)
      lines.append(
        String(repeating: " ", count: max(0, 11 - size.count)) + "\(size)  \(recording.identifier)")
    }
    // Identifiers come from whoever recorded.
    self.lines = lines.map(Console.escaped)
  }
}
