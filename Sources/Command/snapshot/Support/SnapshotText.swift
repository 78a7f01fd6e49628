import Foundation
import SnapshotFormat

/// Describes a snapshot. Lines fit into 80 columns unless one of its texts is too long.
struct SnapshotText {
  let lines: [String]

  /// - Parameter hasBars: whether bars show the sizes of files.
  init(_ snapshot: OpenSnapshot, hasBars: Bool = true) {
    let manifest = snapshot.manifest
    let lines =
      Self.words(manifest) + Self.origin(manifest) + Self.modules(manifest) + Self.dropped(manifest)
      + Self.recordings(manifest, hasBars)
      + Self.attachments(snapshot.members.filter(\.isAttachment), hasBars)
      + Self.appData(snapshot.members.filter(\.isAppData))
    // Identifiers and names come from the application that recorded them, so they are escaped.
    self.lines = lines.map(Console.escaped)
  }

  /// The user's words come first. Each line of them is one of the lines, because control characters are escaped later,
  /// and is indented, so that it can't be taken for a line of the record.
  private static func words(_ manifest: Manifest) -> [String] {
    var lines: [String] = []
    if let note = manifest.note { lines = indented(note) + [""] }
    for (name, value) in manifest.fields.sorted(by: { $0.key < $1.key }) {
      lines += indented("\(name): \(value)")
    }
    return manifest.fields.isEmpty ? lines : lines + [""]
  }

  /// The lines of a text. A line also ends at a vertical tab, a form feed, and the line and paragraph separators of
  /// Unicode.
  private static func indented(_ text: String) -> [String] {
    text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map {
      $0.isEmpty ? "" : "  " + $0
    }
  }

  private static func origin(_ manifest: Manifest) -> [String] {
    let (application, device) = (manifest.application, manifest.device)
    var lines = [
      "Snapshot     \(manifest.id)",
      "Made         \(manifest.createdAt.formatted(.iso8601))",
      "Application  \(application.identifier) \(application.version) (\(application.build))",
      "Device       \(device.model), \(device.system) \(device.systemVersion), \(device.locale)",
    ]
    if let report = manifest.report { lines.append("Report       \(report)") }
    if !manifest.redactions.isEmpty {
      lines.append("Redacted by  \(manifest.redactions.joined(separator: ", "))")
    }
    return lines
  }

  private static func modules(_ manifest: Manifest) -> [String] {
    guard !manifest.modules.isEmpty else { return [] }
    let sizes = manifest.recordings.reduce(into: [String: Int64]()) {
      $0[$1.identifier, default: 0] += $1.size
    }
    let dropped = Set(manifest.dropped.compactMap(\.identifier))
    let width = min(40, manifest.modules.map(\.name.count).max() ?? 0)
    let complete = manifest.modules.filter { $0.files.allSatisfy { sizes[$0] != nil } }.count
    var lines = ["", "Modules      \(manifest.modules.count), \(complete) complete"]
    for module in manifest.modules {
      let missing = module.files.filter { sizes[$0] == nil }
      let size = module.files.reduce(0) { $0 + (sizes[$1] ?? 0) }
      let state =
        missing.isEmpty
        ? "complete" : "\(module.files.count - missing.count) of \(module.files.count), missing:"
      lines.append(
        "\(Columns.aligned(Console.size(size), to: 11))  \(Columns.padded(module.name, to: width))  \(state)")
      lines += Columns.list(
        missing.map { dropped.contains($0) ? "\($0) (dropped)" : $0 }, indent: 17 + width)
    }
    let wanted = Set(manifest.modules.flatMap(\.files))
    let others = Set(manifest.recordings.map(\.identifier)).subtracting(wanted)
    if !others.isEmpty { lines.append("             \(number(others.count, "identifier")) in no module") }
    return lines
  }

  /// What was not recorded, by its reasons.
  private static func dropped(_ manifest: Manifest) -> [String] {
    guard !manifest.dropped.isEmpty else { return [] }
    var lines = ["", "Dropped      \(sum(manifest.dropped.map(\.bytes)))"]
    var groups: [(reason: String, entries: [Manifest.Dropped])] = []
    for entry in manifest.dropped {
      if let place = groups.firstIndex(where: { $0.reason == entry.explanation }) {
        groups[place].entries.append(entry)
      } else {
        groups.append((entry.explanation, [entry]))
      }
    }
    for (reason, entries) in groups {
      // The sizes in a manifest are untrusted and can overflow.
      let size = entries.reduce(Int64(0)) { $0.addingReportingOverflow($1.bytes).partialValue }
      lines.append("\(Columns.aligned(Console.size(size), to: 11))  \(reason):")
      let names = entries.map { entry in
        let calls = entry.count > 1 ? " (\(entry.count) calls)" : ""
        return (entry.identifier ?? "others") + calls
      }
      lines += Columns.list(names, indent: 15)
    }
    return lines
  }

  private static func recordings(_ manifest: Manifest, _ hasBars: Bool) -> [String] {
    let recordings = manifest.recordings.sorted {
      ($0.identifier, $0.call ?? 0) < ($1.identifier, $1.call ?? 0)
    }
    let largest = hasBars ? recordings.map(\.size).max() ?? 0 : nil
    return ["", "Recordings   \(sum(recordings.map(\.size)))"]
      + recordings.map { recording in
        let call = recording.call.map { ", call \($0)" } ?? ""
        let exchange = recording.exchange.map { " → \($0.outcome), \($0.duration) ms" } ?? ""
        return line(recording.size, of: largest, recording.identifier + call + exchange)
      }
  }

  private static func attachments(_ members: [OpenSnapshot.Member], _ hasBars: Bool) -> [String] {
    guard !members.isEmpty else { return [] }
    let largest = hasBars ? members.map(\.size).max() ?? 0 : nil
    return ["", "Attachments  \(sum(members.map(\.size)))"]
      + members.map { line($0.size, of: largest, String($0.originalName.dropFirst("attachments/".count))) }
  }

  private static func appData(_ members: [OpenSnapshot.Member]) -> [String] {
    members.isEmpty ? [] : ["", "App data     \(sum(members.map(\.size)))"]
  }

  private static func line(_ size: Int64, of largest: Int64?, _ name: String) -> String {
    let bar = largest.map { "  \(Columns.bar(size, of: $0))" } ?? ""
    return "\(Columns.aligned(Console.size(size), to: 11))\(bar)  \(name)"
  }

  private static func sum(_ sizes: [Int64]) -> String {
    sizes.isEmpty
      ? "0"
      : "\(sizes.count), \(Console.size(sizes.reduce(0) { $0.addingReportingOverflow($1).partialValue }))"
  }

  private static func number(_ count: Int, _ noun: String) -> String {
    "\(count) \(noun)\(count == 1 ? "" : "s")"
  }
}
