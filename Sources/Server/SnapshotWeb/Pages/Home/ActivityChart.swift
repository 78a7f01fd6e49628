import Foundation

/// The received snapshots and bytes per day: two bar charts with a height of 100 and variable width, and a table.
struct ActivityChart {
  /// The maximum number of days.
  static let mostDays = 30
  private static let pitch = 10

  private let days: [ActivityDay]

  /// Creates a chart of the last ``mostDays`` of `days`. Returns `nil` if `days` is empty.
  init?(_ days: [ActivityDay]) {
    guard !days.isEmpty else { return nil }
    self.days = Array(days.suffix(Self.mostDays))
  }

  /// The values for the template `chart`.
  var fields: Fields {
    let count = days.reduce(0) { $0 + $1.count }
    let bytes = days.reduce(Int64(0)) { $0 + $1.bytes }
    let (first, last) = (Measures.day(days[0].day), Measures.day(days[days.count - 1].day))
    let period = "from \(first) to \(last)"
    return [
      "first": first,
      "last": last,
      "width": days.count * Self.pitch,
      "days": Measures.count(days.count, "day"),
      "figures": [
        figure(
          "Uploaded", Measures.count(count, "snapshot"), "Snapshots uploaded per day \(period)", "count",
          days.map { Int64($0.count) }
        ) { Measures.count(Int($0), "snapshot") },
        figure(
          "Received", Measures.size(bytes), "Bytes received per day \(period)", "bytes", days.map(\.bytes)
        ) { Measures.size($0) },
      ],
      "rows": days.filter { $0.count > 0 }.reversed().map { day -> Fields in
        [
          "day": Measures.day(day.day), "iso": Measures.plainDay(day.day),
          "count": Measures.number(day.count),
          "size": Measures.sizeFields(day.bytes),
        ]
      },
    ]
  }

  private func figure(
    _ name: String, _ sum: String, _ label: String, _ kind: String, _ values: [Int64],
    _ words: (Int64) -> String
  ) -> Fields {
    let highest = values.max() ?? 0
    let bars = values.indices.filter { values[$0] > 0 }.map { index -> Fields in
      // The minimum height at which a bar is visible and can be hovered.
      let height = max(2, Measures.share(values[index], of: highest))
      return [
        "x": index * Self.pitch + 1, "y": 100 - height, "height": height,
        "words": "\(Measures.day(days[index].day)): \(words(values[index]))",
      ]
    }
    return [
      "name": name, "sum": sum, "kind": kind, "bars": bars, "highest": words(highest),
      "label": "\(label): \(sum) in total, at most \(words(highest)) per day.",
    ]
  }
}
