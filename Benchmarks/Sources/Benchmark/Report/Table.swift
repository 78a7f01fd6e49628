/// The report as text.
struct Table {
  let report: Report

  private static let heads = [
    "work", "metric", "ours", "nginx", "Hummingbird", "FlyingFox", "target", ": nginx", ": Hummingbird",
    ": FlyingFox", "others",
  ]

  var text: String {
    var lines = report.machine.lines
    lines += [
      "Medians; ours : theirs, the target in brackets, ✓ met, ✗ not met. nginx: the better of tcp_nopush on and off.",
      "* limited by the load generator's core; compare the processor time instead.",
      "Small GET: 1 KB from memory everywhere (nginx: return). Downloads: files, by snapshot serve through its API.",
      "Transfers by the command: as a client of snapshot serve, with resumable uploads; curl sends one request.",
      "As shipped: hashed, checked, synchronized, indexed, audited; the peers only write the uploads.",
    ]
    let (product, engine) = report.orderedRows
    let cells = [Self.heads] + (product + engine).map(cells)
    let widths = Self.heads.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    for (title, rows) in [
      ("What people run: snapshot serve, snapshot", product), ("The engine alone", engine),
    ]
    where !rows.isEmpty {
      lines += ["", title, "", Self.line(Self.heads, widths)]
      lines.append(String(repeating: "-", count: widths.reduce(0) { $0 + $1 + 2 }))
      for row in rows {
        lines.append(Self.line(self.cells(row), widths))
        if let limit = row.limit { lines.append("    limit: \(limit)") }
      }
    }
    lines.append("")
    let judged = report.rows.flatMap { row in row.targets.compactMap { row.isMet($0) } }
    lines.append("\(judged.count { $0 }) of \(judged.count) targets met.")
    lines += report.failures.map { "Not measured: \($0)" }
    return lines.joined(separator: "\n")
  }

  private func cells(_ row: Row) -> [String] {
    func value(_ value: Double?, _ names: [String]) -> String {
      guard let value else { return "" }
      return row.metric.format(value) + (names.contains(where: row.limited.contains) ? "*" : "")
    }
    let others = Peer.allCases.filter { ![.nginx, .hummingbird, .flyingFox].contains($0) }
      .compactMap { peer -> String? in
        let text = ratio(row, peer)
        return text.isEmpty ? nil : "\(peer.rawValue) \(text)"
      }
    func best(_ peer: Peer) -> String { value(row.value(of: peer), peer.names) }
    let absolute = row.targets.first { $0.peer == nil }.map { judgement(row, $0) } ?? ""
    return [
      row.work, row.metric.rawValue, value(row.values[row.ours], [row.ours]), best(.nginx),
      best(.hummingbird), best(.flyingFox), absolute, ratio(row, .nginx), ratio(row, .hummingbird),
      ratio(row, .flyingFox), others.joined(separator: "; "),
    ]
  }

  private func ratio(_ row: Row, _ peer: Peer) -> String {
    guard let ratio = row.ratio(to: peer) else { return "" }
    let judged = row.targets.filter { $0.peer == peer }.map { " (\(judgement(row, $0)))" }
    return Metric.seconds.format(ratio) + judged.joined()
  }

  private func judgement(_ row: Row, _ target: Target) -> String {
    let mark = row.isMet(target).map { $0 ? " ✓" : " ✗" } ?? ""
    return "\(row.metric.sign) \(target.bound)\(mark)"
  }

  private static func line(_ cells: [String], _ widths: [Int]) -> String {
    zip(cells, widths).enumerated().map { index, cell in
      let room = String(repeating: " ", count: cell.1 - cell.0.count)
      // Text is aligned to the left, numbers to the right.
      return index < 2 || index > 5 ? cell.0 + room : room + cell.0
    }.joined(separator: "  ")
  }
}
