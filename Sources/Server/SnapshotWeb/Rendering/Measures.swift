import Foundation
import SnapshotAPI
import SnapshotFormat

/// Formats numbers, sizes and times. The format does not depend on the locale.
enum Measures {
  /// Formats a number: `1,234,567`.
  static func number(_ value: some BinaryInteger) -> String {
    let digits = Array(String(value.magnitude))
    let groups = digits.indices.map { index in
      (index > 0 && (digits.count - index) % 3 == 0 ? "," : "") + String(digits[index])
    }
    return (value < 0 ? "-" : "") + groups.joined()
  }

  /// Formats a count with its noun: `1 snapshot`, `2 snapshots`.
  static func count(_ value: Int, _ noun: String) -> String {
    "\(number(value)) \(noun)\(value == 1 ? "" : "s")"
  }

  /// Formats a size: `1.4 MB`.
  static func size(_ bytes: Int64) -> String {
    guard bytes >= 1000 else { return "\(bytes) B" }
    var (value, units) = (Double(bytes) / 1000, ["kB", "MB", "GB", "TB"][...])
    while value >= 999.95, units.count > 1 {
      value /= 1000
      units.removeFirst()
    }
    let tenths = Int((min(value, 1e12) * 10).rounded())
    return "\(number(tenths / 10)).\(tenths % 10) \(units.first ?? "")"
  }

  /// Returns a size for the template `size`.
  static func sizeFields(_ bytes: Int64) -> Fields {
    ["bytes": "\(bytes)", "exact": number(bytes), "human": size(bytes)]
  }

  /// Returns a time for the template `time`: `21 Nov 2026, 21:30 UTC`.
  static func timeFields(_ time: Date) -> Fields {
    let text = SnapshotJSON.text(of: time)
    return ["iso": text, "human": "\(day(text)), \(text.dropFirst(11).prefix(5)) UTC"]
  }

  /// Returns a time with its seconds for the template `clock`: `21:30:07`, and the day in the tooltip.
  static func secondFields(_ time: Date) -> Fields {
    let text = SnapshotJSON.text(of: time)
    let clock = String(text.dropFirst(11).prefix(8))
    return ["iso": text, "clock": clock, "whole": "\(day(text)), \(clock) UTC"]
  }

  /// Formats a day: `21 Nov 2026`.
  static func day(_ day: Date) -> String { self.day(SnapshotJSON.text(of: day)) }

  /// Formats a day as in ISO 8601: `2026-11-21`.
  static func plainDay(_ day: Date) -> String { String(SnapshotJSON.text(of: day).prefix(10)) }

  private static func day(_ time: String) -> String {
    let parts = time.prefix(10).split(separator: "-").compactMap { Int($0) }
    guard parts.count == 3, months.indices.contains(parts[1] - 1) else { return String(time.prefix(10)) }
    return "\(parts[2]) \(months[parts[1] - 1]) \(parts[0])"
  }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Returns the percentage of `value` in `largest`. It is at least 1 for a positive value, so that the bar is visible.
  static func share(_ value: Int64, of largest: Int64) -> Int {
    guard value > 0, largest > 0 else { return 0 }
    return max(1, Int((Double(min(value, largest)) / Double(largest) * 100).rounded()))
  }
}
