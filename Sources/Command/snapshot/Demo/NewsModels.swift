import Foundation

/// The JSON structures of the sample newspaper.
struct NewsFeed: Codable, Sendable {
  var section: String
  var edition: String
  var stories: [NewsStory]
}

struct NewsStory: Codable, Sendable {
  var id: String
  var section: String
  var headline: String
  var summary: String
  var author: String
  var publishedAt: String
  var image: Image
  var tags: [String]
  var commentCount: Int
  var url: String

  struct Image: Codable, Sendable {
    var url: String
    var width: Int
    var height: Int
    var caption: String
  }
}

struct NewsArticle: Codable, Sendable {
  var story: NewsStory
  var paragraphs: [String]
  var comments: [Comment]

  struct Comment: Codable, Sendable {
    var author: String
    var text: String
    var postedAt: String
    var likes: Int
  }
}

struct NewsWeather: Codable, Sendable {
  var city: String
  var station: String
  var now: Reading
  var hours: [Reading]

  struct Reading: Codable, Sendable {
    var time: String
    var celsius: Double
    var humidity: Int
    var windKilometersPerHour: Double
    var sky: String
  }
}

struct NewsQuotes: Codable, Sendable {
  var exchange: String
  var quotes: [Quote]

  struct Quote: Codable, Sendable {
    var symbol: String
    var name: String
    var price: Double
    var change: Double
    var history: [Double]
  }
}

struct NewsProfile: Codable, Sendable {
  var name: String
  var city: String
  var followedTags: [String]
  var readArticles: [String]

  static let anna = NewsProfile(
    name: "Anna", city: "Vienna", followedTags: ["climate", "rail", "football"],
    readArticles: ["world-3", "science-1"])
}
