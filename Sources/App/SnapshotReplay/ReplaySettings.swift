import DataSnapshots
import Foundation
import SnapshotFormat

/// How a test replays its fixture.
struct ReplaySettings: Sendable {
  /// The app's own configuration, whose redaction rules and policies apply.
  var configuration: SnapshotMode.Configuration
  /// Whether a call without recording fails. Otherwise the configuration's policies apply.
  var isStrict: Bool
  /// What follows the last recorded call, unless the policy of an identifier says it.
  var afterLast: SnapshotMode.Policy.AfterLast
  /// The age from which a fixture fails its test.
  var maximumAge: Duration?
  /// Whether the developer is told if the app never asked for the time.
  var expectsClock: Bool

  /// The configuration of the replay. `miss` is called with each call that has no recording.
  func configuration(
    _ miss: @escaping @Sendable (SnapshotMode.Event) -> Void
  ) -> SnapshotMode.Configuration {
    var configuration = configuration
    configuration.policy.afterLast = afterLast
    if isStrict {
      configuration.policy.missing = .fail(miss)
      for identifier in configuration.policies.keys {
        configuration.policies[identifier]?.missing = .fail(miss)
      }
    }
    return configuration
  }

  /// Returns why a fixture is too old; `nil` if it is not.
  func ageProblem(of manifest: Manifest, _ location: URL, at date: Date) -> ReplayError? {
    guard let maximumAge else { return nil }
    let most = Double(maximumAge.components.seconds)
    let age = date.timeIntervalSince(manifest.createdAt)
    guard age > most else { return nil }
    return ReplayError(
      .fixtureTooOld,
      """
      The fixture \(location.path) was made at \(SnapshotJSON.text(of: manifest.createdAt)), \
      \(Self.words(age)) ago, and the test allows \(Self.words(most)); attach a newer snapshot, or raise maximumAge.
      """)
  }

  private static func words(_ seconds: Double) -> String {
    let (number, unit) =
      if seconds >= 2 * 86_400 {
        (seconds / 86_400, "days")
      } else if seconds >= 2 * 3_600 {
        (seconds / 3_600, "hours")
      } else {
        (seconds, "seconds")
      }
    return "\(Int(number)) \(unit)"
  }
}
