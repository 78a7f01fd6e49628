import SnapshotFormat

/// Something that is wrong with the recordings of a snapshot.
struct ProblemRow: Encodable {
  /// The identifier of the recording; `nil` for calls that are not listed.
  var identifier: String?
  /// The number of the call, if a history is kept.
  var call: Int?
  /// The problem in a few words.
  var problem: String

  /// The identifier, and the problem. Texts of the snapshot are escaped.
  var line: String {
    Console.escaped((identifier ?? "others") + (call.map { ", call \($0)" } ?? "")) + ": "
      + Console.escaped(problem)
  }

  /// Reads all recordings of a snapshot, and returns their problems in the order of the manifest, and then what was not
  /// recorded.
  static func rows(of snapshot: OpenSnapshot) throws(BundleError) -> [ProblemRow] {
    var rows: [ProblemRow] = []
    for recording in snapshot.manifest.recordings {
      guard let problem = recording.problem(with: try snapshot.state(of: recording)) else { continue }
      rows.append(ProblemRow(identifier: recording.identifier, call: recording.call, problem: "\(problem)"))
    }
    return rows + snapshot.manifest.dropped.map { ProblemRow(identifier: $0.identifier, problem: $0.summary) }
  }
}
