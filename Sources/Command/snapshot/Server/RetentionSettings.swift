import SnapshotFormat
import SnapshotStore

/// What goes by itself, and how the storage is looked after.
struct RetentionSettings: Sendable, Hashable {
  /// The rules by which snapshots go.
  var rules = RetentionRules()
  /// How often they are applied.
  var interval = TimeSpan.hour
  /// The most bytes that all bundles may have together; uploads beyond are refused.
  var quotaBytes: Int64?
  /// How often every bundle is looked at; `nil` is only when somebody asks for it.
  var scrubInterval: TimeSpan? = .month
  /// How many bytes of them are read in a second.
  var scrubBytesPerSecond: Int64 = 10 << 20

  /// A setting below `server.retention`.
  struct Setting: Sendable {
    let name: String
    /// What it takes, in words.
    let wanted: String
    /// Takes the text, or answers `false`.
    let set: @Sendable (inout RetentionSettings, String) -> Bool
  }

  /// Every setting there is.
  static let settings = [
    Setting(name: "age", wanted: "a while such as 90d, or never") { settings, text in
      optional(span, text, "never") { settings.rules.limits.age = $0 }
    },
    Setting(name: "countPerReport", wanted: "a number from 0") { settings, text in
      optional(count, text, "0") { settings.rules.limits.countPerReport = $0 }
    },
    Setting(name: "totalBytes", wanted: "a number of bytes from 0") { settings, text in
      optional(bytes, text, "0") { settings.rules.limits.totalBytes = $0 }
    },
    Setting(
      name: "applications",
      wanted: "entries such as com.example.beta age=14d countPerReport=5 totalBytes=1000000, parted by commas"
    ) { settings, text in
      guard let applications = applications(text) else { return false }
      settings.rules.applications = applications
      return true
    },
    Setting(name: "interval", wanted: "a while such as 1h") { settings, text in
      guard let interval = TimeSpan(text) else { return false }
      settings.interval = interval
      return true
    },
    Setting(name: "quotaBytes", wanted: "a number of bytes from 0") { settings, text in
      optional(bytes, text, "0") { settings.quotaBytes = $0 }
    },
    Setting(name: "scrubInterval", wanted: "a while such as 30d, or never") { settings, text in
      optional(span, text, "never") { settings.scrubInterval = $0 }
    },
    Setting(name: "scrubBytesPerSecond", wanted: "a number of bytes from 4096") { settings, text in
      guard let rate = Int64(text), rate >= 4096 else { return false }
      settings.scrubBytesPerSecond = rate
      return true
    },
  ]

  /// Passes on what `text` says: `nil` for the word that means no limit.
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

  /// The limits of applications: `IDENTIFIER age=14d countPerReport=5 totalBytes=1000000, …`, each limit at most once.
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
