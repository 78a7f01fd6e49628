import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SnapshotStore

extension UploadSettings {
  /// Every setting below `server.uploads`.
  static let settings: [Setting<UploadSettings>] = [
    .init(name: "interimAnswers", wanted: "automatic, true or false", reloads: true) { settings, text in
      if text == "automatic" {
        settings.interimAnswers = nil
        return true
      }
      return take(Bool(text)) { settings.interimAnswers = $0 }
    },
    .init(
      name: "origins", wanted: "‘*’, or origins such as https://example.com, separated by commas",
      reloads: true
    ) { settings, text in
      take(AllowedOrigins(text)) { settings.offer.origins = $0 }
    },
    .init(name: "open", wanted: "a number from 1 to 100000") { settings, text in
      take(count(text)) { settings.limits.open = $0 }
    },
    .init(name: "openPerToken", wanted: "a number from 1 to 100000") { settings, text in
      take(count(text)) { settings.limits.openPerOwner = $0 }
    },
    .init(name: "openPerAddress", wanted: "a number from 1 to 100000") { settings, text in
      take(count(text)) { settings.limits.openPerAddress = $0 }
    },
    .init(name: "empty", wanted: "a duration such as 10m") { settings, text in
      take(TimeSpan(text)) { settings.limits.empty = .seconds($0.seconds) }
    },
    .init(name: "idle", wanted: "a duration such as 1d") { settings, text in
      take(TimeSpan(text)) { settings.limits.idle = .seconds($0.seconds) }
    },
    .init(name: "age", wanted: "a duration such as 7d") { settings, text in
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
