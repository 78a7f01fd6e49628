public import DataSnapshots
import Dispatch
public import Foundation
public import SnapshotClient
import SnapshotFormat
import Synchronization

/// What a tester may do with an app's snapshots, without any screen.
///
/// A page (``BetaSettingsServer``), a SwiftUI view (`BetaSettingsView`) and tests show the same ``overview()`` and
/// call the same methods. What takes long, an upload or a download, goes on after the call that began it; how far it
/// is and how it ended stands in ``Overview/activity``, in words.
///
/// All methods may be called from any thread. One instance at a time uses a folder.
public final class BetaSettings: Sendable {
  /// What may be set.
  public struct Configuration: Sendable {
    /// How many snapshots the list of recent ones keeps, at least 1; the oldest leave first.
    public var recentCount = 20
    /// What time it is.
    public var clock: @Sendable () -> Date = { Date() }

    /// The defaults above.
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
  /// Where bundles that were fetched lie until they are active.
  let downloads: URL
  let configuration: Configuration
  let disk = DispatchQueue(label: "beta-settings.disk", qos: .utility)
  private let core = Mutex(Core())

  /// The settings of an app that records with `mode`.
  /// - Parameters:
  ///   - client: what fetches snapshots.
  ///   - uploads: what sends them.
  ///   - folder: a folder of the settings' own, for the list of recent snapshots and for downloads; made when there is
  ///     something to keep.
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

  /// Everything that there is to show, as it is now.
  public func overview() async -> Overview {
    Overview(
      report: await mode.report(), active: mode.activeManifest, activity: withCore { $0.activity },
      recent: recent.all, uploads: await uploads.list(), server: client.server)
  }

  /// What is done with data that passes through the app; kept for the next launch.
  public var state: SnapshotMode.State {
    get { mode.state }
    set { mode.state = newValue }
  }

  /// Waits until what goes on now has ended.
  public func settle() async { await withCore { $0.task }?.value }

  /// Stops what goes on now. A download that was stopped goes on where it was when it is asked for again.
  public func cancel() { withCore { $0.task }?.cancel() }

  func withCore<Value>(_ body: (inout Core) -> Value) -> Value { core.withLock { body(&$0) } }
}
