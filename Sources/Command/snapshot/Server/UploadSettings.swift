import SnapshotAPI
import SnapshotFormat
import SnapshotStore

/// How uploads that may be resumed are offered, and how many are borne with.
struct UploadSettings: Sendable, Hashable {
  /// What is offered, and to whom.
  var offer = ResumableUploads.Configuration()
  /// Whether interim answers are sent; `nil`: unless there are trusted proxies.
  var interimAnswers: Bool?
  /// How much they take on; how large one may be follows from the largest bundle.
  var limits = UploadLimits()

  /// A setting below `server.uploads`.
  struct Setting: Sendable {
    let name: String
    /// What it takes, in words.
    let wanted: String
    /// Takes the text, or answers `false`.
    let set: @Sendable (inout UploadSettings, String) -> Bool
  }

  /// Every setting there is.
  static let settings = [
    Setting(name: "interimAnswers", wanted: "automatic, true or false") { settings, text in
      if text == "automatic" {
        settings.interimAnswers = nil
        return true
      }
      return take(Bool(text)) { settings.interimAnswers = $0 }
    },
    Setting(name: "origins", wanted: "‘*’, or origins such as https://example.com, separated by commas") {
      settings, text in take(AllowedOrigins(text)) { settings.offer.origins = $0 }
    },
    Setting(name: "open", wanted: "a number from 1 to 100000") { settings, text in
      take(count(text)) { settings.limits.open = $0 }
    },
    Setting(name: "openPerToken", wanted: "a number from 1 to 100000") { settings, text in
      take(count(text)) { settings.limits.openPerOwner = $0 }
    },
    Setting(name: "openPerAddress", wanted: "a number from 1 to 100000") { settings, text in
      take(count(text)) { settings.limits.openPerAddress = $0 }
    },
    Setting(name: "empty", wanted: "a while such as 10m") { settings, text in
      take(TimeSpan(text)) { settings.limits.empty = .seconds($0.seconds) }
    },
    Setting(name: "idle", wanted: "a while such as 1d") { settings, text in
      take(TimeSpan(text)) { settings.limits.idle = .seconds($0.seconds) }
    },
    Setting(name: "age", wanted: "a while such as 7d") { settings, text in
      take(TimeSpan(text)) { settings.limits.age = .seconds($0.seconds) }
    },
  ]

  private static func count(_ text: String) -> Int? {
    Int(text).flatMap { (1...100_000).contains($0) ? $0 : nil }
  }

  /// Passes `value` on, unless there is none.
  private static func take<Value>(_ value: Value?, _ set: (Value) -> Void) -> Bool {
    guard let value else { return false }
    set(value)
    return true
  }
}
