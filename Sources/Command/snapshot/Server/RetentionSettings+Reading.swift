import SnapshotFormat
import SnapshotServer
import SnapshotStore

extension RetentionSettings {
  /// Every setting below `server.retention`.
  static let settings: [Setting<RetentionSettings>] = [
    .init(name: "age", wanted: "a duration such as 90d, or never") { settings, text in
      optional(span, text, "never") { settings.rules.limits.age = $0 }
    },
    .init(name: "countPerReport", wanted: "a number from 0") { settings, text in
      optional(count, text, "0") { settings.rules.limits.countPerReport = $0 }
    },
    .init(name: "totalBytes", wanted: "a number of bytes from 0") { settings, text in
      optional(bytes, text, "0") { settings.rules.limits.totalBytes = $0 }
    },
    .init(
      name: "applications",
      wanted: "entries like com.example.beta age=14d countPerReport=5 totalBytes=1000000, separated by commas"
    ) { settings, text in
      guard let applications = applications(text) else { return false }
      settings.rules.applications = applications
      return true
    },
    .init(name: "interval", wanted: "a duration such as 1h") { settings, text in
      guard let interval = TimeSpan(text) else { return false }
      settings.interval = interval
      return true
    },
    .init(name: "quotaBytes", wanted: "a number of bytes from 0") { settings, text in
      optional(bytes, text, "0") { settings.quotaBytes = $0 }
    },
    .init(name: "scrubInterval", wanted: "a duration such as 30d, or never") { settings, text in
      optional(span, text, "never") { settings.scrubInterval = $0 }
    },
    .init(name: "scrubBytesPerSecond", wanted: "a number of bytes from 4096") { settings, text in
      guard let rate = Int64(text), rate >= 4096 else { return false }
      settings.scrubBytesPerSecond = rate
      return true
    },
  ]

  /// Parses `text`, and calls `take` with the value, or with `nil` if `text` is the word for no limit. Returns `false`
  /// if `text` is malformed.
  private static func optional<Value>(
    _ parse: (String) -> Value?, _ text: String, _ none: String, _ take: (Value?) -> Void
  ) -> Bool {
    if text == none {
      take(nil)
      return true
    }
    guard let value = parse(text) else { return false }
    take(value)
    return true
  }

  private static func span(_ text: String) -> TimeSpan? { TimeSpan(text) }

  private static func count(_ text: String) -> Int? { Int(text).flatMap { $0 > 0 ? $0 : nil } }

  private static func bytes(_ text: String) -> Int64? { Int64(text).flatMap { $0 > 0 ? $0 : nil } }

  /// Parses the limits of applications: `IDENTIFIER age=14d countPerReport=5 totalBytes=1000000, …`, each limit at most
  /// once.
  private static func applications(_ text: String) -> [String: RetentionRules.Limits]? {
    var applications: [String: RetentionRules.Limits] = [:]
    for entry in text.split(separator: ",") {
      let words = entry.split(separator: " ")
      guard let identifier = words.first.map(String.init), !identifier.contains("="), words.count > 1,
        applications[identifier] == nil, let limits = limits(words.dropFirst())
      else { return nil }
      applications[identifier] = limits
    }
    return applications
  }

  private static func limits(_ words: ArraySlice<Substring>) -> RetentionRules.Limits? {
    var limits = RetentionRules.Limits()
    var seen: Set<Substring> = []
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, seen.insert(parts[0]).inserted else { return nil }
      let text = String(parts[1])
      let isTaken =
        switch parts[0] {
        case "age": optional(span, text, "never") { limits.age = $0 }
        case "countPerReport": optional(count, text, "0") { limits.countPerReport = $0 }
        case "totalBytes": optional(bytes, text, "0") { limits.totalBytes = $0 }
        default: false
        }
      guard isTaken else { return nil }
    }
    return limits
  }
}
