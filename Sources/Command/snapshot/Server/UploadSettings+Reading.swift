import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import UploadProtocols

extension UploadSettings {
  /// A setting below `server.uploads`.
  struct Setting: Sendable {
    let name: String
    /// The expected value, in words, for an error message.
    let wanted: String
    /// Parses and sets the value; returns `false` if the text is malformed.
    let set: @Sendable (inout UploadSettings, String) -> Bool
  }

  /// Every setting.
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
    Setting(name: "empty", wanted: "a duration such as 10m") { settings, text in
      take(TimeSpan(text)) { settings.limits.empty = .seconds($0.seconds) }
    },
    Setting(name: "idle", wanted: "a duration such as 1d") { settings, text in
      take(TimeSpan(text)) { settings.limits.idle = .seconds($0.seconds) }
    },
    Setting(name: "age", wanted: "a duration such as 7d") { settings, text in
      take(TimeSpan(text)) { settings.limits.age = .seconds($0.seconds) }
    },
  ]

  private static func count(_ text: String) -> Int? {
    Int(text).flatMap { (1...100_000).contains($0) ? $0 : nil }
  }

  /// Calls `set` with `value`; returns `false` if it is `nil`.
  private static func take<Value>(_ value: Value?, _ set: (Value) -> Void) -> Bool {
    guard let value else { return false }
    set(value)
    return true
  }
}
