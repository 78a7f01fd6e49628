import Foundation

/// All results.
struct Report: Codable {
  var machine: Machine
  var rows: [Row] = []
  /// The measurements that failed, and the reasons.
  var failures: [String] = []

  var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      return try encoder.encode(Document(self))
    }
  }

  /// The number of targets that were missed.
  var unmet: Int { rows.reduce(0) { sum, row in sum + Peer.allCases.count { row.isMet($0) == false } } }

  /// The report in JSON, with the columns of the table.
  private struct Document: Encodable {
    struct Line: Encodable {
      struct Comparison: Encodable {
        var peer: String
        var ratio: Double
        var target: Double?
        var met: Bool?
      }
      var work: String
      var metric: String
      var moreIsBetter: Bool
      var ours: String
      var medians: [String: Double]
      var limitedByGenerator: [String]
      var comparisons: [Comparison]
    }

    var machine: Machine
    var rows: [Line]
    var failures: [String]

    init(_ report: Report) {
      machine = report.machine
      failures = report.failures
      rows = report.rows.map { row in
        Line(
          work: row.work, metric: row.metric.rawValue, moreIsBetter: row.metric.moreIsBetter,
          ours: row.ours,
          medians: row.values, limitedByGenerator: row.limited,
          comparisons: Peer.allCases.compactMap { peer in
            row.ratio(to: peer).map {
              Line.Comparison(
                peer: peer.rawValue, ratio: $0, target: row.bound(for: peer), met: row.isMet(peer))
            }
          })
      }
    }
  }
}
