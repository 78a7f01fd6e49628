public import Foundation
public import SnapshotFormat

extension SnapshotMode {
  /// What an app may choose.
  public struct Configuration: Sendable {
    /// The app, as it stands in the manifests.
    public var application = Manifest.Application.current
    /// The device, as it stands in the manifests.
    public var device = Manifest.Device.current
    /// How identifiers are recorded and replayed.
    public var policy = Policy()
    /// How single identifiers are recorded and replayed instead; a key that ends in `*` stands for all identifiers that
    /// begin so. The longest key that fits counts.
    public var policies: [String: Policy] = [:]
    /// What is removed from recordings, attachments and identifiers before they reach the disk: rules in the order in
    /// which they run. A rule that is new since the last launch runs over what is there already.
    public var redaction: [RedactionRule] = []
    /// How much is kept.
    public var limits = Limits()
    /// The most bytes that wait to be written; what the disk can't follow is dropped and told.
    public var waitingBytes = 64 << 20
    /// Where a state is looked for that this launch is forced into.
    public var launch = Launch.current
    /// What time it is.
    public var clock: @Sendable () -> Date = { Date() }
    /// Is told what went wrong, on whatever thread it did, and may be called often. It may change the state, but may
    /// not wait for the ``SnapshotMode`` (`flush`, `report`), which would wait for it.
    public var onEvent: @Sendable (Event) -> Void = { _ in }

    /// The running app on this device, the latest of everything, and nobody told.
    public init() {}
  }

  /// How the app was launched: by UI tests and from a scheme it can be forced into a state.
  ///
  ///     app.launchArguments += ["-DataSnapshotsState", "replaying"]     // or
  ///     DATA_SNAPSHOTS_STATE=replaying ./app
  ///
  /// A forced state wins over the stored one for the whole launch, whatever the app sets, and is not stored. An
  /// argument wins over the environment. A word that is no state is told as an event, and forces nothing.
  public struct Launch: Sendable, Hashable {
    /// The argument that stands before the state.
    public static let argument = "-DataSnapshotsState"
    /// The variable that holds the state.
    public static let variable = "DATA_SNAPSHOTS_STATE"

    /// The arguments.
    public var arguments: [String]
    /// The environment.
    public var environment: [String: String]

    /// Describes a launch.
    public init(arguments: [String] = [], environment: [String: String] = [:]) {
      self.arguments = arguments
      self.environment = environment
    }

    /// How the running process was launched.
    public static var current: Launch {
      Launch(
        arguments: ProcessInfo.processInfo.arguments, environment: ProcessInfo.processInfo.environment)
    }

    /// What the launch says, state or not; `nil` where it says nothing.
    var word: String? {
      if let index = arguments.lastIndex(of: Self.argument) {
        return arguments.dropFirst(index + 1).first ?? ""
      }
      return environment[Self.variable]
    }
  }
}
