import Foundation

/// Composes the stories of an edition from the words of its sections. The same seed gives the same stories.
struct NewsWriter {
  private var random: SplitMix64
  private let date: String

  private static let authors = [
    "Lena Hofer", "Tomás Ribeiro", "Aiko Tanaka", "Miriam Okafor", "Jakub Nowak", "Priya Raman",
    "Éloïse Martin",
  ]
  private static let readers = [
    "brix", "M. Huber", "ostwind", "pauline_k", "Zahnrad", "Ö. Demir", "night owl 🦉", "J. B.",
  ]
  private static let remarks = [
    "Finally somebody who explains it without shouting.",
    "I was there, and it was colder than the article says.",
    "Source for the second figure, please?", "My grandmother told it the same way. 😄",
    "The photo shows the wrong bridge.", "Thank you for the link to the data!",
    "We will see whether it is still true in autumn.", "Could the map be larger on phones?",
  ]

  init(seed: UInt64, date: String) {
    random = SplitMix64(state: seed)
    self.date = date
  }

  mutating func stories(of section: NewsSection, count: Int) -> [NewsStory] {
    (1...count).map { number in
      let headline = "\(pick(section.subjects)) \(pick(section.events))"
      let id = "\(section.name)-\(number)"
      return NewsStory(
        id: id, section: section.name, headline: headline,
        summary: "\(pick(section.sentences)) \(pick(section.sentences))", author: pick(Self.authors),
        publishedAt: time(), image: image(id, caption: pick(section.sentences)),
        tags: Set((0..<3).map { _ in pick(section.tags) }).sorted(), commentCount: below(240),
        url: "https://news.example.com/\(date)/\(id)")
    }
  }

  mutating func article(_ story: NewsStory) -> NewsArticle {
    let section = NewsSection.all.first { $0.name == story.section } ?? .world
    return NewsArticle(
      story: story,
      paragraphs: (0..<16).map { _ in (0..<5).map { _ in pick(section.sentences) }.joined(separator: " ") },
      comments: (0..<40).map { _ in
        .init(author: pick(Self.readers), text: pick(Self.remarks), postedAt: time(), likes: below(60))
      })
  }

  mutating func weather(stationIsBroken: Bool) -> NewsWeather {
    let hours = (0..<24).map { hour in
      NewsWeather.Reading(
        time: "\(date)T\(hour < 10 ? "0" : "")\(hour):00:00Z", celsius: tenths(from: 40, to: 140),
        humidity: 40 + below(50), windKilometersPerHour: tenths(from: 0, to: 300),
        sky: pick(["clear", "cloudy", "rain", "fog"]))
    }
    var now = hours[12]
    if stationIsBroken { now.celsius = -99.9 }
    return NewsWeather(city: "Vienna", station: "Hohe Warte", now: now, hours: hours)
  }

  mutating func quotes() -> NewsQuotes {
    let companies = ["Alpenbahn", "Donaustrom", "Hafenkran", "Inntal Glas", "Moldau Papier", "Nordsee Wind"]
    return NewsQuotes(
      exchange: "Vienna",
      quotes: companies.map { name in
        let history = (0..<250).map { _ in tenths(from: 200, to: 1800) }
        return .init(
          symbol: String(name.uppercased().prefix(4)), name: name, price: history[249],
          change: ((history[249] - history[248]) * 10).rounded() / 10, history: history)
      })
  }

  private mutating func image(_ id: String, caption: String) -> NewsStory.Image {
    .init(url: "https://images.example.com/\(date)/\(id).jpg", width: 1600, height: 900, caption: caption)
  }

  private mutating func time() -> String {
    let (hour, minute) = (below(24), below(60))
    return "\(date)T\(hour < 10 ? "0" : "")\(hour):\(minute < 10 ? "0" : "")\(minute):00Z"
  }

  private mutating func tenths(from low: Int, to high: Int) -> Double { Double(low + below(high - low)) / 10 }

  private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

  private mutating func pick(_ words: [String]) -> String { words[below(words.count)] }
}

/// A small random number generator whose numbers depend only on its seed (Steele, Lea, Flood 2014).
private struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
