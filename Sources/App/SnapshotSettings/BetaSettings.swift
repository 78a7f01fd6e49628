public import DataSnapshots
import Dispatch
public import Foundation
public import SnapshotClient
import SnapshotFormat
public import SnapshotSealing
import SystemIO

/// A tester's operations on an app's snapshots, without a user interface.
///
/// A web page (``BetaSettingsServer``), a SwiftUI view (`BetaSettingsView`) and tests display the same ``overview()``
/// and call the same methods. Uploads and downloads continue after the method that starts them has returned;
/// ``Overview/activity`` contains their progress and result as text.
///
/// All methods are thread-safe. Only one instance at a time can use a folder.
public final class BetaSettings: Sendable {
  /// Options with default values.
  public struct Configuration: Sendable {
    /// The maximum number of recent snapshots, at least 1. The oldest ones are removed first.
    public var recentCount = 20
    /// Returns the secret keys with which sealed snapshots are opened on this device, such as from the keychain. Never
    /// ship one with an app.
    public var identities: @Sendable () -> [SealingIdentity] = { [] }
    /// Returns the current time.
    public var clock: @Sendable () -> Date = { Date() }

    /// Creates a configuration with the default values.
    public init() {}
  }

  struct Core {
    var activity: Activity?
    var task: Task<Void, Never>?
  }

  let mode: SnapshotMode
  let client: SnapshotAPIClient
  let uploads: Uploads
  let recent: RecentSnapshots
  /// The folder of downloaded bundles that are not active yet.
  let downloads: URL
  let configuration: Configuration
  let disk = DispatchQueue(label: "beta-settings.disk", qos: .utility)
  private let core = Lock(Core())

  /// Creates the settings of an app that records with `mode`.
  /// - Parameters:
  ///   - mode: records and replays.
  ///   - client: fetches snapshots.
  ///   - uploads: sends snapshots.
  ///   - folder: a folder for the settings only. It contains the list of recent snapshots and the downloads, and is
  ///     created when it is needed.
  ///   - configuration: the number of recent snapshots, and the clock.
  public init(
    mode: SnapshotMode, client: SnapshotAPIClient, uploads: Uploads, folder: URL,
    configuration: Configuration = Configuration()
  ) {
    self.mode = mode
    self.client = client
    self.uploads = uploads
    self.configuration = configuration
    downloads = folder.appending(path: "downloads")
    recent = RecentSnapshots(file: folder.appending(path: "recent.json"), limit: configuration.recentCount)
    if let problem = recent.problem {
      let activity = Activity(
        title: "The list of recent snapshots can’t be read", phase: .failed, message: problem)
      core.withLock { $0.activity = activity }
    }
  }

  /// Returns the current state of everything that the settings show.
  public func overview() async -> Overview {
    let previous = await mode.previousRun
    return Overview(
      report: await mode.report(), crashedRun: previous.flatMap { $0.endedInGoodOrder ? nil : $0 },
      active: mode.activeManifest, activity: withCore { $0.activity }, recent: recent.all,
      uploads: await uploads.list(), server: client.server, sealing: mode.sealing)
  }

  /// Whether the app records, replays or does neither. The state is stored for the next launch.
  public var state: SnapshotMode.State {
    get { mode.state }
    set { mode.state = newValue }
  }

  /// Waits until the running operation has ended.
  public func settle() async { await withCore { $0.task }?.value }

  /// Cancels the running operation. A cancelled download is resumed when the same snapshot is requested again.
  public func cancel() { withCore { $0.task }?.cancel() }

  func withCore<Value>(_ body: (inout Core) -> Value) -> Value { core.withLock { body(&$0) } }
}
