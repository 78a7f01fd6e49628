public import SnapshotFormat

/// What is recorded of each module, and what is missing.
public struct ModuleReport: Sendable, Hashable, CustomStringConvertible {
  /// A module's part of the report.
  public struct Entry: Sendable, Hashable {
    /// The module's name.
    public let name: String
    /// The identifiers that are recorded, in the order of registration.
    public let present: [String]
    /// The identifiers that are not, in the order of registration.
    public let missing: [String]

    /// Whether nothing is missing.
    public var isComplete: Bool { missing.isEmpty }
  }

  /// What is done with data that passes.
  public let state: SnapshotMode.State
  /// The snapshot that is replayed, where one is.
  public let snapshot: SnapshotID?
  /// The modules, in the order of registration.
  public let modules: [Entry]
  /// How much is recorded in all.
  public let recordingCount: Int
  /// What is recorded and belongs to no module, sorted.
  public let unassigned: [String]

  /// Compares `modules` with the identifiers that are recorded.
  init(state: SnapshotMode.State, snapshot: SnapshotID? = nil, modules: [Module], identifiers: [String]) {
    let recorded = Set(identifiers)
    self.state = state
    self.snapshot = snapshot
    self.modules = modules.map { module in
      Entry(
        name: module.name, present: module.files.filter(recorded.contains),
        missing: module.files.filter { !recorded.contains($0) })
    }
    recordingCount = recorded.count
    unassigned = recorded.subtracting(modules.flatMap(\.files)).sorted()
  }

  /// A table of plain text for people.
  ///
  ///     State: recording. Recordings: 3.
  ///
  ///     Module   Recorded  Missing
  ///     News     2 of 2    nothing
  ///     Weather  0 of 1    weather/today
  ///
  ///     In no module: debug/ping
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
    if !unassigned.isEmpty { sections.append("In no module: \(unassigned.joined(separator: ", "))") }
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
