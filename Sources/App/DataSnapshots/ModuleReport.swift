public import SnapshotFormat

/// A report of recorded and missing identifiers for each module.
public struct ModuleReport: Sendable, Hashable, CustomStringConvertible {
  /// The identifiers of one module.
  public struct Entry: Sendable, Hashable {
    /// The module's name.
    public let name: String
    /// The recorded identifiers, in the order of registration.
    public let present: [String]
    /// The identifiers without a recording, in the order of registration.
    public let missing: [String]

    /// Whether all identifiers of the module are recorded.
    public var isComplete: Bool { missing.isEmpty }
  }

  /// An identifier that was to be replayed, but has no recording.
  public struct Miss: Sendable, Hashable {
    /// The identifier.
    public let identifier: String
    /// Up to three recorded identifiers that differ in a few characters only, nearest first.
    public let nearest: [String]
  }

  /// The current state of the ``SnapshotMode``.
  public let state: SnapshotMode.State
  /// The UUID of the replayed snapshot, or `nil` if none is replayed.
  public let snapshot: SnapshotID?
  /// The modules, in the order of registration.
  public let modules: [Entry]
  /// The number of different identifiers recorded.
  public let recordingCount: Int
  /// The number of recordings. Each call of a history counts.
  public let callCount: Int
  /// The recorded identifiers that belong to no module, sorted.
  public let unassigned: [String]
  /// The identifiers that were to be replayed but had no recording, since replaying began: the first 100, in the order
  /// of the calls.
  public let misses: [Miss]
  /// Whether the app asked for ``SnapshotMode/now`` since replaying began; `nil` if nothing was replayed. An app that did
  /// not ask uses the time of this machine, which can be a reason why a bug does not show.
  public let wasClockAsked: Bool?
  /// The names of the attachments, sorted.
  public let attachments: [String]
  /// The names of the redaction rules that were applied to the recordings.
  public let redactions: [String]
  /// Whether recording is paused because the disk is full.
  public let isPaused: Bool
  /// What was not recorded, and why.
  public let dropped: [Manifest.Dropped]

  /// The values from which a report is made.
  struct Contents {
    var snapshot: SnapshotID?
    var identifiers: [String] = []
    var calls = 0
    var misses: [Miss] = []
    var wasClockAsked: Bool?
    var attachments: [String] = []
    var redactions: [String] = []
    var isPaused = false
    var dropped: [Manifest.Dropped] = []
  }

  /// Compares `modules` with the recorded identifiers. `recordedName` returns the name under which an identifier is
  /// recorded after redaction.
  init(
    state: SnapshotMode.State, modules: [Module], _ contents: Contents, as recordedName: (String) -> String
  ) {
    let recorded = Set(contents.identifiers)
    let names = Dictionary(
      modules.flatMap(\.files).map { ($0, recorded.contains($0) ? $0 : recordedName($0)) }
    ) { first, _ in first }
    let isPresent = { (file: String) in recorded.contains(names[file] ?? file) }
    self.state = state
    self.modules = modules.map { module in
      Entry(
        name: module.name, present: module.files.filter(isPresent),
        missing: module.files.filter { !isPresent($0) })
    }
    snapshot = contents.snapshot
    recordingCount = recorded.count
    callCount = contents.calls
    unassigned = recorded.subtracting(names.values).sorted()
    misses = contents.misses
    wasClockAsked = contents.wasClockAsked
    attachments = contents.attachments
    redactions = contents.redactions
    isPaused = contents.isPaused
    dropped = contents.dropped
  }

  /// A plain-text table of the report.
  ///
  ///     State: recording. Recordings: 3.
  ///
  ///     Module   Recorded  Missing
  ///     News     2 of 2    nothing
  ///     Weather  0 of 1    weather/today
  ///
  ///     In no module: debug/ping
  ///     Attached: screenshot.png
  ///     Dropped: news/video, 60 MB: too much waited for the disk
  ///     Not found: news/fed (nearest: news/feed)
  public var description: String {
    let source = snapshot.map { " Snapshot: \($0)." } ?? ""
    var sections = ["State: \(state.rawValue).\(source) Recordings: \(recordingCount)."]
    if !modules.isEmpty {
      let rows = modules.map { module in
        [
          module.name, "\(module.present.count) of \(module.present.count + module.missing.count)",
          module.isComplete ? "nothing" : module.missing.joined(separator: ", "),
        ]
      }
      sections.append(Self.table([["Module", "Recorded", "Missing"]] + rows))
    }
    var lines: [String] = []
    if isPaused { lines.append("Recording is paused: the disk is full.") }
    if !unassigned.isEmpty { lines.append("In no module: \(unassigned.joined(separator: ", "))") }
    if !attachments.isEmpty { lines.append("Attached: \(attachments.joined(separator: ", "))") }
    lines += dropped.map(\.description)
    lines += misses.map { miss in
      let hint = miss.nearest.isEmpty ? "" : " (nearest: \(miss.nearest.joined(separator: ", ")))"
      return "Not found: \(miss.identifier.prefix(200))\(hint)"
    }
    if wasClockAsked == false {
      lines.append("The clock was not asked: the app does not use the time of the recording (mode.now).")
    }
    if !lines.isEmpty { sections.append(lines.joined(separator: "\n")) }
    return sections.joined(separator: "\n\n")
  }

  private static func table(_ rows: [[String]]) -> String {
    let widths = rows.reduce(into: [0, 0]) { widths, row in
      for column in widths.indices { widths[column] = max(widths[column], row[column].count) }
    }
    return rows.map { row in
      row.enumerated().map { column, text in
        column < widths.count ? text + String(repeating: " ", count: widths[column] - text.count) : text
      }.joined(separator: "  ")
    }.joined(separator: "\n")
  }
}
