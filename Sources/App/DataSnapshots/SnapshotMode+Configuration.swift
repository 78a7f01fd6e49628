public import Foundation
public import SnapshotFormat

extension SnapshotMode {
  /// The settings of a ``SnapshotMode``.
  public struct Configuration: Sendable {
    /// The app, as described in manifests.
    public var application = Manifest.Application.current
    /// The device, as described in manifests.
    public var device = Manifest.Device.current
    /// How identifiers are recorded and replayed, unless ``policies`` has a more specific policy.
    public var policy = Policy()
    /// Policies of single identifiers, which override ``policy``. A key that ends in `*` matches all identifiers that
    /// begin with the rest of the key. An exact key takes precedence, then the longest match.
    public var policies: [String: Policy] = [:]
    /// Rules that remove data from recordings, attachments and identifiers before they are written to the disk, in the
    /// order in which they are applied. A rule that is new since the last launch is also applied to existing
    /// recordings.
    public var redaction: [RedactionRule] = []
    /// How much data is kept.
    public var limits = Limits()
    /// The maximum number of bytes waiting to be written. If the disk is too slow, further data is dropped and an event
    /// is sent.
    public var waitingBytes = 64 << 20
    /// The launch arguments and environment, which can force a state for this launch.
    public var launch = Launch.current
    /// Returns the current time.
    public var clock: @Sendable () -> Date = { Date() }
    /// Called with each problem, on the thread where it occurs. It can be called often. It can change the state, but
    /// must not wait for the ``SnapshotMode`` (`flush`, `report`): that would deadlock.
    public var onEvent: @Sendable (Event) -> Void = { _ in }

    /// Creates a configuration for the running app and device, which keeps the latest recording of each identifier and
    /// ignores events.
    public init() {}
  }

  /// The launch arguments and environment, with which UI tests and Xcode schemes can force a state.
  ///
  ///     app.launchArguments += ["-DataSnapshotsState", "replaying"]     // or
  ///     DATA_SNAPSHOTS_STATE=replaying ./app
  ///
  /// A forced state overrides the stored one for the whole launch, even if the app sets another, and is not stored. An
  /// argument takes precedence over the environment. A word that is not a state is reported as an event and forces
  /// nothing.
  public struct Launch: Sendable, Hashable {
    /// The argument that precedes the state.
    public static let argument = "-DataSnapshotsState"
    /// The environment variable that contains the state.
    public static let variable = "DATA_SNAPSHOTS_STATE"

    /// The launch arguments.
    public var arguments: [String]
    /// The environment variables.
    public var environment: [String: String]

    /// Creates a description of a launch.
    public init(arguments: [String] = [], environment: [String: String] = [:]) {
      self.arguments = arguments
      self.environment = environment
    }

    /// The arguments and environment of the running process.
    public static var current: Launch {
      Launch(
        arguments: ProcessInfo.processInfo.arguments, environment: ProcessInfo.processInfo.environment)
    }

    /// The word that is to be the state, valid or not. `nil` if the launch specifies none.
    var word: String? {
      if let index = arguments.lastIndex(of: Self.argument) {
        return arguments.dropFirst(index + 1).first ?? ""
      }
      return environment[Self.variable]
    }
  }
}
