public import Foundation
public import SnapshotFormat
import SystemIO

/// Instances that replay one snapshot and store nothing, for tests.
extension SnapshotMode {
  /// The instance of the running test, which the library `SnapshotReplay` sets.
  ///
  /// Read it where the app makes its own instance:
  ///
  ///     let mode = SnapshotMode.current ?? SnapshotMode(folder: folder)
  @TaskLocal public static var current: SnapshotMode?

  /// Replays the unpacked snapshot in `folder` for the whole life of the instance.
  ///
  /// Nothing is stored: `folder` is only read, the state can't be changed, and methods that would write throw. Verifies the
  /// manifest; the bytes of a recording are verified when it is replayed. The folder must stay until the instance is
  /// released.
  public convenience init(
    replaying folder: URL, configuration: Configuration = Configuration()
  ) throws(BundleError) {
    self.init(try .fixed(to: folder), folder, configuration)
  }

  /// The same, for a launch that names the snapshot: the instance is disabled, with an event, if it can't be read.
  convenience init(fixedTo folder: URL, _ configuration: Configuration) {
    var core = ModeState.Core(stored: .disabled)
    (core.isFixed, core.isShut) = (true, true)
    var failure: BundleError?
    do { core = try .fixed(to: folder) } catch { failure = error }
    self.init(core, folder, configuration)
    if let failure {
      configuration.onEvent(
        .init(.stateNotForced, "the snapshot in \(folder.path) can't be replayed: \(failure)"))
    }
  }

  private convenience init(_ core: ModeState.Core, _ folder: URL, _ configuration: Configuration) {
    let storage = Storage(folder: folder.path)
    self.init(core, storage, FolderClaim(storage), configuration)
  }
}

extension ModeState.Core {
  /// The state of an instance that only replays the snapshot in `folder`.
  fileprivate static func fixed(to folder: URL) throws(BundleError) -> ModeState.Core {
    let snapshot = try ActiveSnapshot(id: SnapshotID(), in: folder.path)
    var core = ModeState.Core(stored: .replaying, active: snapshot)
    (core.forced, core.isFixed) = (.replaying, true)
    return core
  }
}
