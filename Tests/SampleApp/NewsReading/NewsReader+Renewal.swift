import DataSnapshots
import Foundation

/// The day on which the user's subscription renews.
extension NewsReader {
  private struct Subscription: Decodable {
    let months: Int
  }

  /// The day of the renewal, such as `2026-02-28`.
  public func renewal() async throws -> String {
    let months = try JSONDecoder().decode(Subscription.self, from: await data("subscription")).months
    let calendar = mode.calendar
    var day = calendar.dateComponents([.year, .month, .day], from: mode.now)
    if mends.contains(.renewal) {
      guard let date = calendar.date(byAdding: .month, value: months, to: mode.now) else { return "" }
      day = calendar.dateComponents([.year, .month, .day], from: date)
    } else {
      day.month = (day.month ?? 0) + months
      // The 31st of February becomes a day in March.
      guard let date = calendar.date(from: day) else { return "" }
      day = calendar.dateComponents([.year, .month, .day], from: date)
    }
    let parts = [(day.year ?? 0, 4), (day.month ?? 0, 2), (day.day ?? 0, 2)]
    return parts.map { number, width in
      let text = String(number)
      return String(repeating: "0", count: max(0, width - text.count)) + text
    }.joined(separator: "-")
  }
}
