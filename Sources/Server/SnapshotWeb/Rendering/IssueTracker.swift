import HTTPSemantics
import SnapshotFormat
import SnapshotStore

/// The pages of a team's issue tracker to which the server's pages link.
package struct IssueTracker: Sendable, Hashable {
  /// The page of a report.
  package var report: AddressTemplate?
  /// The form for a new issue about a snapshot, filled in.
  package var newIssue: AddressTemplate?

  /// Creates a tracker without links.
  package init() {}

  /// Returns the address of a report's page in the tracker, or `nil`.
  func address(of report: ReportID) -> String? { self.report?.address([.report: report.description]) }

  /// Returns the address of the form for a new issue about the snapshot of `record`, or `nil`.
  func newIssue(about record: SnapshotRecord) -> String? {
    newIssue?.address([
      .report: record.report.description, .snapshot: record.id.description,
      .application: record.application.identifier, .version: record.application.version,
      .note: record.metadata[SnapshotRecord.noteKey] ?? "",
    ])
  }
}

/// An `http` or `https` address with placeholders after the host: `https://tracker.example/browse/{report}`.
package struct AddressTemplate: Sendable, Hashable {
  /// What a placeholder stands for.
  package enum Placeholder: String, Sendable, Hashable, CaseIterable {
    /// The id of the report.
    case report
    /// The UUID of the snapshot.
    case snapshot
    /// The identifier of the application.
    case application
    /// The version of the application.
    case version
    /// What the user wrote; at most ``AddressTemplate/noteLength`` characters.
    case note
  }

  /// The maximum length of a template, in bytes.
  package static let maximumLength = 2000
  /// The maximum number of characters of a note in an address. Browsers and trackers limit the length of addresses.
  package static let noteLength = 1000

  private enum Piece: Sendable, Hashable {
    case text(String)
    case placeholder(Placeholder)
  }

  private let pieces: [Piece]

  /// Parses a template with the given placeholders. Returns `nil` if it has others, or is not such an address.
  /// - Parameter required: a placeholder that the template must have.
  package init?(_ text: String, _ allowed: [Placeholder], required: Placeholder? = nil) {
    let isPlain = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && !#""<>\^`|"#.utf8.contains($0) }
    guard text.utf8.count <= Self.maximumLength, isPlain else { return nil }
    var pieces: [Piece] = []
    var rest = text[...]
    while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
      guard rest[open] == "{", let close = rest[open...].firstIndex(of: "}"),
        let placeholder = Placeholder(rawValue: String(rest[rest.index(after: open)..<close])),
        allowed.contains(placeholder)
      else { return nil }
      pieces += [.text(String(rest[..<open])), .placeholder(placeholder)]
      rest = rest[rest.index(after: close)...]
    }
    pieces.append(.text(String(rest)))
    guard case .text(let start)? = pieces.first, Self.hasHost(start, isWhole: pieces.count == 1) else {
      return nil
    }
    if let required, !pieces.contains(.placeholder(required)) { return nil }
    self.pieces = pieces
  }

  /// Whether `start`, the text before the first placeholder, has a scheme and a complete host.
  private static func hasHost(_ start: String, isWhole: Bool) -> Bool {
    guard let scheme = ["https://", "http://"].first(where: { start.lowercased().hasPrefix($0) }) else {
      return false
    }
    let rest = start.dropFirst(scheme.count)
    let host = rest.prefix { !"/?#".contains($0) }
    return !host.isEmpty && !host.contains("@") && host.first != ":" && (isWhole || host.count < rest.count)
  }

  /// Returns the address with percent-encoded values in the places of the placeholders.
  func address(_ values: [Placeholder: String]) -> String {
    pieces.map { piece in
      switch piece {
      case .text(let text): return text
      case .placeholder(let placeholder):
        let value = values[placeholder] ?? ""
        guard placeholder == .note, value.count > Self.noteLength else { return PercentCoding.encode(value) }
        return PercentCoding.encode(value.prefix(Self.noteLength - 1) + "…")
      }
    }.joined()
  }
}
