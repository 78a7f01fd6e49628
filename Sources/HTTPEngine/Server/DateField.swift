/// The field `Date` (RFC 9110 §5.6.7, §6.6.1), written without a calendar library.
enum DateField {
  /// `Date: Sun, 06 Nov 1994 08:49:37 GMT` with its line end.
  static func bytes(_ unixSeconds: Int64) -> [UInt8] {
    Array("Date: \(text(unixSeconds))\r\n".utf8)
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func text(_ unixSeconds: Int64) -> String {
    let days = unixSeconds.quotient(flooredBy: 86_400)
    let seconds = unixSeconds - days * 86_400
    // Years that begin in March keep the leap day at their end (Hinnant, "chrono-compatible date algorithms").
    let shifted = days + 719_468
    let era = shifted.quotient(flooredBy: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)

    let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let weekday = weekdays[Int(days - days.quotient(flooredBy: 7) * 7)]
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let time = "\(two(seconds / 3600)):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    return "\(weekday), \(two(day)) \(months[Int(month) - 1]) \(year) \(time) GMT"
  }
}

extension Int64 {
  fileprivate func quotient(flooredBy divisor: Int64) -> Int64 {
    self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor)
  }
}
