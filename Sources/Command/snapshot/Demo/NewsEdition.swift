import Foundation

/// The public JSON of a newspaper on one day. The same day always has the same bytes, and different days have different
/// bytes.
struct NewsEdition: Sendable {
  /// The documents by path, without a leading slash.
  let documents: [String: Data]

  /// The day on which the weather station is broken and reports an impossible temperature.
  static let yesterday = Day(number: 0, date: "2026-03-17", stationIsBroken: true)
  /// The next day: the station is repaired, and the news has changed.
  static let today = Day(number: 1, date: "2026-03-18", stationIsBroken: false)

  /// The properties that distinguish one edition from another.
  struct Day: Sendable {
    let number: Int
    let date: String
    let stationIsBroken: Bool
  }

  /// Creates the edition of `day`.
  init(_ day: Day) throws {
    var writer = NewsWriter(seed: UInt64(day.number) &* 7919 &+ 17, date: day.date)
    var documents: [String: any Encodable] = [
      "weather/vienna": writer.weather(stationIsBroken: day.stationIsBroken),
      "markets/quotes": writer.quotes(),
      "user/profile": NewsProfile.anna,
    ]
    var leads: [NewsStory] = []
    for section in NewsSection.all {
      let stories = writer.stories(of: section, count: 40)
      leads += stories.prefix(6)
      documents["feed/\(section.name)"] = NewsFeed(section: section.name, edition: day.date, stories: stories)
    }
    documents["feed/front-page"] = NewsFeed(section: "front-page", edition: day.date, stories: leads)
    for (number, story) in leads.prefix(8).enumerated() {
      documents["article/\(number + 1)"] = writer.article(story)
    }
    self.documents = try documents.mapValues { document in
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      return try encoder.encode(document)
    }
  }
}
