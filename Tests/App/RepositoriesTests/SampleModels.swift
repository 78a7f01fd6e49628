import Foundation
import Repositories

struct DateRange: Codable, Hashable, Sendable {
  var start: Int
  var end: Int
}

struct Trip: Codable, Hashable, Sendable, Identifiable {
  var id: Int
  var name: String
  var dates: [DateRange] = []

  static let rules: Validator<Trip> = .all(
    .at("name", \.name, "is empty") { !$0.isEmpty },
    .at("dates", \.dates, .each("date list has negative length") { $0.end >= $0.start }))
}

/// A type that can't be encoded, for repositories in memory.
struct Session: Sendable, Equatable {
  var user: String?
  var count = 0
}
