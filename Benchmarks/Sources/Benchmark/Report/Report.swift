import Foundation

/// All results.
struct Report {
  var machine: Machine
  var rows: [Row] = []
  /// The measurements that failed, and the reasons.
  var failures: [String] = []

  /// The rows of what people run, and then those of the engine alone.
  var orderedRows: (product: [Row], engine: [Row]) {
    let engines = [Contestant.engine, .engineTLS].map(\.name)
    return (rows.filter { !engines.contains($0.ours) }, rows.filter { engines.contains($0.ours) })
  }

  var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      return try encoder.encode(Document(self))
    }
  }

  /// The report in JSON, with the columns of the table.
  private struct Document: Encodable {
    struct Line: Encodable {
      struct Judgement: Encodable {
        var target: Target
        var value: Double?
        var met: Bool?
      }
      var work: String
      var metric: String
      var moreIsBetter: Bool
      var ours: String
      var rounds: [String: [Double]]
      var limitedByGenerator: [String]
      var ratios: [String: Double]
      var targets: [Judgement]
      var limit: String?
    }

    var machine: Machine
    var rows: [Line]
    var failures: [String]

    init(_ report: Report) {
      machine = report.machine
      failures = report.failures
      rows = report.rows.map { row in
        let ratios = Peer.allCases.compactMap { peer in row.ratio(to: peer).map { (peer.rawValue, $0) } }
        return Line(
          work: row.work, metric: row.metric.rawValue, moreIsBetter: row.metric.moreIsBetter, ours: row.ours,
          rounds: row.samples, limitedByGenerator: row.limited,
          ratios: Dictionary(uniqueKeysWithValues: ratios),
          targets: row.targets.map {
            Line.Judgement(target: $0, value: row.value(for: $0), met: row.isMet($0))
          },
          limit: row.limit)
      }
    }
  }
}
