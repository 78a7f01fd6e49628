public import Foundation
public import Redaction
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
    /// What happens to binary data of unknown formats if there are rules, because names can't be found in it. Pictures,
    /// sound, video and fonts are always kept.
    public var unknownBinaries = UnknownBinaries.drop
    /// Whether ``redaction`` also applies to the notes and fields of bug reports. Turn it off if the rules change what
    /// users write on purpose.
    public var redactsReports = true
    /// To whom snapshots are sealed when they are made; `nil` to make them in clear. Recordings on the device are not
    /// sealed, so that replaying them needs no key.
    public var sealing: Sealing?
    /// How much data is kept.
    public var limits = Limits()
    /// The maximum number of bytes waiting to be written. If the disk is too slow, further data is dropped and an event
    /// is sent.
    public var waitingBytes = 64 << 20
    /// When recorded data survives a crash of the app.
    public var durability = Durability.asynchronous
    /// What a second instance with the same folder does, such as that of an app extension.
    public var sharing = Sharing.exclusive
    /// The launch arguments and environment, which can force a state for this launch.
    public var launch = Launch.current
    /// Returns the current time. ``SnapshotMode/now`` is another one while replaying.
    public var clock: @Sendable () -> Date = { Date() }
    /// The time zone that a snapshot describes.
    public var timeZone = TimeZone.autoupdatingCurrent
    /// The locale that a snapshot describes.
    public var locale = Locale.autoupdatingCurrent
    /// The calendar that a snapshot describes.
    public var calendar = Calendar.autoupdatingCurrent
    /// Called with each problem, on the thread where it occurs. It can be called often. It can change the state, but
    /// must not wait for the ``SnapshotMode`` (`flush`, `report`): that would deadlock.
    public var onEvent: @Sendable (Event) -> Void = { _ in }

    /// Creates a configuration for the running app and device, which keeps the latest recording of each identifier and
    /// ignores events.
    public init() {}
  }

  /// When recorded data survives a crash of the app.
  ///
  /// Data that was passed to `process` survives a crash or a kill of the app as soon as it is in the system's page cache,
  /// redacted. A power failure can take the data of the last seconds; what remains is complete.
  public enum Durability: Sendable, Hashable {
    /// Shortly after `process` has returned: the calling thread neither redacts nor writes. This is for all users.
    case asynchronous
    /// Before `process` returns, for data of at most `bytes`; larger data as ``asynchronous``. The calling thread redacts
    /// and writes, but does not wait for the disk. This is for beta builds: the data that crashes the app is kept.
    case beforeReturn(upTo: Int = 1 << 20)

    /// ``beforeReturn(upTo:)`` with a limit of 1 MiB.
    public static let beforeReturn = Durability.beforeReturn()

    func isSynchronous(_ count: Int) -> Bool {
      if case .beforeReturn(let bytes) = self { count <= bytes } else { false }
    }
  }

  /// What a second instance with the same folder does.
  ///
  /// A lock protects the folder. The system releases it when the process ends, also by a crash.
  public enum Sharing: Sendable, Hashable {
    /// It is disabled for its whole life, records and replays nothing, and sends ``Event/Kind/folderInUse``.
    case exclusive
    /// Each instance uses its own folder `processes/<name>`, named after the bundle identifier or the program, with a
    /// number if the same program runs several times. State, recordings and snapshots are separate.
    case perProcess
  }

  /// The launch arguments and environment, with which UI tests and Xcode schemes can force a state.
  ///
  ///     app.launchArguments += ["-DataSnapshotsState", "replaying"]     // or
  ///     DATA_SNAPSHOTS_STATE=replaying ./app
  ///
  /// A forced state overrides the stored one for the whole launch, even if the app sets another, and is not stored. An
  /// argument takes precedence over the environment. A word that is not a state is reported as an event and forces
  /// nothing.
  ///
  /// A launch can also name a snapshot to replay, as `snapshot run` does:
  ///
  ///     DATA_SNAPSHOTS_REPLAY=/path/of/an/unpacked/snapshot ./app
  public struct Launch: Sendable, Hashable {
    /// The argument that precedes the state.
    public static let argument = "-DataSnapshotsState"
    /// The environment variable that contains the state.
    public static let variable = "DATA_SNAPSHOTS_STATE"
    /// The environment variable that contains the path of an unpacked snapshot. It is replayed for the whole launch,
    /// whatever the stored or forced state is, and the app's own folder is not used.
    public static let replayVariable = "DATA_SNAPSHOTS_REPLAY"

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

    /// The folder of the snapshot that is to be replayed; `nil` if the launch names none.
    var replayedSnapshot: URL? { environment[Self.replayVariable].map { URL(filePath: $0) } }
  }
}
