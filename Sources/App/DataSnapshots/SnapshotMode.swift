public import Foundation
public import SnapshotFormat
import Synchronization

/// Records the raw data that an app works with, and gives it back later instead of live data.
///
/// Pass data through ``process(data:uniqueIdentifier:)`` at the place where it enters the app, before it is decoded:
///
///     let mode = SnapshotMode(folder: .applicationSupportDirectory.appending(path: "DataSnapshots"))
///     mode.register(module: "News", files: ["news/feed", "news/weather"])
///
///     func feed() async throws -> Feed {
///       let live = try await server.data(for: "/feed")
///       let data = mode.process(data: live, uniqueIdentifier: "news/feed")
///       return try JSONDecoder().decode(Feed.self, from: data)
///     }
///
/// A tester turns on recording, reproduces a bug, and makes a snapshot for the report:
///
///     mode.state = .recording
///     // … the bug shows …
///     print(await mode.report())
///     let packed = try await mode.makeSnapshot(report: ReportID(validating: "BUG-123"), to: zip)
///
/// A developer activates the snapshot, and sees what the tester saw:
///
///     let manifest = try await mode.activate(bundle: zip)
///
/// State, recordings and the active snapshot are kept in a folder across launches. One instance at a time uses a
/// folder. All methods may be called from any thread.
public final class SnapshotMode: Sendable {
  /// What is done with data that passes through.
  public enum State: String, Sendable, CaseIterable, Codable {
    /// Nothing: data passes as it is.
    case disabled
    /// Data passes as it is and is kept: its latest version under each identifier, or as its ``Policy`` says.
    case recording
    /// Recorded data takes the place of what passes: that of the active snapshot or, where none is active, what was
    /// recorded here.
    case replaying
  }

  /// What may change, as one: whoever looks sees a state together with the snapshot that it is about.
  struct Core {
    /// The state of the next launch.
    var stored: State
    /// The state that this launch is forced into.
    var forced: State?
    var active: ActiveSnapshot?
    var session = ReplaySession()
    var modules: [Module] = []

    init(stored: State, active: ActiveSnapshot? = nil) {
      self.stored = stored
      self.active = active
    }

    var state: State { forced ?? stored }
  }

  let configuration: Configuration
  let storage: Storage
  let recorder: Recorder
  /// For what takes long: unpacking, packing, cleaning up. It may wait for the recorder's queue, never the reverse.
  let worker = WorkQueue("snapshots")
  /// For reading what tasks replay.
  let reader = WorkQueue("replays")
  private let core: Mutex<Core>
  /// Whether the state is `disabled`: the one look that a call costs then.
  private let isDisabled: Atomic<Bool>

  /// Goes on with what is in `folder`: the state, the recordings and the active snapshot of the last launch. A new
  /// folder begins ``State/disabled``; it is made when there is something to keep.
  public init(folder: URL, configuration: Configuration = Configuration()) {
    self.configuration = configuration
    storage = Storage(folder: folder.path)
    recorder = Recorder(storage: storage, configuration: configuration)
    var core = Core(stored: .disabled)
    var failure: (any Error)?
    do { core = try Core.restored(from: storage) } catch { failure = error }
    let word = configuration.launch.word
    core.forced = word.flatMap { State(rawValue: $0.lowercased()) }
    isDisabled = Atomic(core.state == .disabled)
    self.core = Mutex(core)
    if let failure {
      // What can't be read now may be readable at the next launch: nothing is removed.
      configuration.onEvent(.init(.stateNotRestored, "\(failure)"))
    } else {
      removeLeftovers()
    }
    if let word, core.forced == nil {
      configuration.onEvent(.init(.stateNotForced, "‘\(word.prefix(100))’ is none of the states"))
    }
    recorder.queue.async { [recorder] in recorder.start() }
  }

  /// What is done with data that passes through. A change holds for every later call and is kept for the next
  /// launch by and by; ``flush()`` waits for that. Where ``isStateForced``, it is kept and changes nothing else.
  public var state: State {
    get { withCore { $0.state } }
    set {
      change { $0.stored = newValue }
      recorder.queue.async { [self] in saveMode() }
    }
  }

  /// Whether the launch was forced into its ``state``, by an argument or the environment.
  public var isStateForced: Bool { withCore { $0.forced != nil } }

  /// The manifest of the active snapshot, where one is active.
  public var activeManifest: Manifest? { withCore { $0.active?.manifest } }

  /// Lets `data` through, under a name that is the same for the same kind of data at every launch, such as
  /// `news/feed?page=2`; any text of up to 64 KiB.
  ///
  /// Never throws, and never waits for the disk to write what it was given:
  /// - disabled, it answers `data` at once;
  /// - recording, it hands the bytes to a writer and answers `data`; the latest call with an identifier wins, or as
  ///   many are kept as its ``Policy`` says;
  /// - replaying, it reads and answers the recorded bytes. Each time they are checked against the size and digest in
  ///   the active snapshot's manifest. Where nothing is recorded, or something else than was recorded, `data` passes,
  ///   or what the policy says.
  ///
  /// What goes wrong is told to ``Configuration/onEvent``.
  public func process(data: Data, uniqueIdentifier: String) -> Data {
    if isDisabled.load(ordering: .acquiring) { return data }
    return pass(data, uniqueIdentifier)
  }

  @inline(never)
  private func pass(_ data: Data, _ identifier: String) -> Data {
    switch makePath() {
    case .through: return data
    case .record:
      recorder.record(data, as: identifier)
      return data
    case .replay(let source):
      if case .recorded(let recorded) = replay(identifier, from: source) { return recorded }
      return data
    }
  }

  /// Returns when everything that was recorded or set before is on the disk.
  public func flush() async { await recorder.queue.run {} }

  /// Blocks the calling thread until everything that was recorded or set before is on the disk: for the last moments
  /// of a process, where nothing can await ``flush()``.
  @available(*, noasync, message: "Await flush()")
  public func flushSynchronously() { recorder.queue.sync {} }

  // MARK: - State

  /// What is to be done with a call.
  enum Path {
    case through
    case record
    case replay(ReplaySource)
  }

  /// What is to be done with a call that begins now.
  func makePath() -> Path {
    if isDisabled.load(ordering: .acquiring) { return .through }
    return withCore { core in
      switch core.state {
      case .disabled: .through
      case .recording: .record
      case .replaying: .replay(ReplaySource(active: core.active, session: core.session))
      }
    }
  }

  func withCore<Value>(_ body: (borrowing Core) -> Value) -> Value { core.withLock { body($0) } }

  /// Changes state and snapshot in one step that every later call sees.
  func change(_ body: (inout Core) -> Void) {
    core.withLock { core in
      let (state, active) = (core.state, core.active)
      body(&core)
      if core.state != state || core.active !== active { core.session = ReplaySession() }
      isDisabled.store(core.state == .disabled, ordering: .releasing)
    }
  }
}
