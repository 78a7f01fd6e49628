import Foundation
import HTTPSemantics

/// The field `Retry-After`: seconds, or a date (RFC 9110 §10.2.3).
enum RetryAfter {
  /// The seconds to wait from `now` on, never negative; `nil` where `text` is neither form.
  static func seconds(_ text: String, now: Date) -> Double? {
    let text = text.trimmingCharacters(in: .whitespaces)
    if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) { return Double(text) }
    return HTTPDate(text).map { max(0, Double($0.secondsSince1970) - now.timeIntervalSince1970) }
  }
}
