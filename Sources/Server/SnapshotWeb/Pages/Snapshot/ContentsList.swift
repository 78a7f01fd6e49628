import SnapshotFormat

/// The list on the pages of a snapshot: its recordings in an order, and its other files.
struct ContentsList: Sendable {
  /// Everything that is in the bundle.
  let contents: BundleContents
  /// The states of the recordings; `nil` for those that are not examined yet.
  let states: [ContentState?]
  /// The part and the order that the page shows.
  let selection: ListSelection
  /// The path of the selected file.
  var current: String?
  /// The snapshot with which the recordings are compared; `nil` for none.
  var with: SnapshotID?
  /// How the recordings of the page differ from those of ``with``, by their paths.
  var differences: [String: RecordingDifferences.State] = [:]

  /// The numbers of the recordings, in the selected order.
  private let order: [Int]

  /// Creates a list.
  /// - Parameter modules: the modules in the bundle's record.
  init(_ examined: ExaminedContents, _ selection: ListSelection = ListSelection(), modules: [Module] = []) {
    contents = examined.contents
    states = examined.states
    self.selection = selection
    order = Self.order(contents, states, selection, modules)
  }

  /// The path of the file that is shown if none is selected: the first recording of the page with a problem, or else the
  /// first one that differs from ``with``, the first one of all, or the first attachment.
  var first: String? {
    let rows = page.rows
    let recording =
      rows.first { problem(of: $0) != nil }
      ?? rows.first { differences[contents.recordings[$0].path].map { $0 != .same } ?? false } ?? rows.first
    return recording.map { contents.recordings[$0].path } ?? contents.attachments.first?.path
  }

  /// The number of recordings of the list.
  var count: Int { order.count }

  /// The recordings on the page, by their numbers.
  var page: PageSlice<Int> {
    let place =
      current.flatMap { current in order.firstIndex { contents.recordings[$0].path == current } } ?? 0
    let start = selection.recordings ?? place / PageLimits.recordings * PageLimits.recordings
    return PageSlice(of: order, from: start, most: PageLimits.recordings)
  }

  /// The number of recordings with a problem, and of what was not recorded.
  var problemCount: Int {
    contents.recordings.indices.count { problem(of: $0) != nil } + contents.dropped.count
  }

  /// Whether all recordings were examined.
  var isComplete: Bool { states.allSatisfy { $0 != nil } }

  /// The problem of the recording with this number.
  func problem(of index: Int) -> RecordingProblem? { contents.recordings[index].problem(with: states[index]) }

  private static func order(
    _ contents: BundleContents, _ states: [ContentState?], _ selection: ListSelection, _ modules: [Module]
  ) -> [Int] {
    let recordings = contents.recordings
    var order = Array(recordings.indices)
    if let name = selection.module {
      let declared = modules.reduce(into: Set<String>()) { if $1.name == name { $0.formUnion($1.files) } }
      order.removeAll { !declared.contains(recordings[$0].identifier) }
    }
    // The numbers decide between equal ones, as sorting is not stable.
    switch selection.order {
    case .module: order.sort { (recordings[$0].module ?? .max, $0) < (recordings[$1].module ?? .max, $1) }
    case .problems:
      let isGood = recordings.indices.map { recordings[$0].problem(with: states[$0]) == nil ? 1 : 0 }
      order.sort { (isGood[$0], $0) < (isGood[$1], $1) }
    case .time: order.sort { (recordings[$0].recordedAt, $0) < (recordings[$1].recordedAt, $1) }
    case .size: order.sort { (recordings[$1].size, $0) < (recordings[$0].size, $1) }
    }
    return order
  }
}
