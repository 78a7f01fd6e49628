import SystemIO

/// The state and the active snapshot of a ``SnapshotMode``. Safe to use from any thread.
final class ModeState: Sendable {
  /// The values behind the lock. A reader always gets a state together with the snapshot that belongs to it.
  struct Core {
    /// The state that is stored for the next launch.
    var stored: SnapshotMode.State
    /// The state forced for this launch, if any.
    var forced: SnapshotMode.State?
    /// Whether the instance must not use the folder: another one does, or it was closed.
    var isShut = false
    /// Whether the instance replays one snapshot for its whole life, and stores nothing.
    var isFixed = false
    var active: ActiveSnapshot?
    var session = ReplaySession()
    var modules: [Module] = []

    init(stored: SnapshotMode.State, active: ActiveSnapshot? = nil) {
      self.stored = stored
      self.active = active
    }

    /// Whether the instance may write to its folder.
    var storesState: Bool { !isShut && !isFixed }

    var state: SnapshotMode.State { isShut ? .disabled : forced ?? stored }
  }

  /// How to process a call.
  enum Path {
    case through
    case record
    case replay(ReplaySource)
  }

  private let core: Lock<Core>

  init(_ core: Core) { self.core = Lock(core) }

  /// Whether the state is `disabled`. The only check that a call costs in that state.
  var isDisabled: Bool { read { $0.state == .disabled } }

  /// Returns how to process a call that begins now.
  func makePath() -> Path {
    read { core in
      switch core.state {
      case .disabled: .through
      case .recording: .record
      case .replaying: .replay(ReplaySource(active: core.active, session: core.session))
      }
    }
  }

  func read<Value>(_ body: (borrowing Core) -> Value) -> Value { core.withLock { body($0) } }

  /// Changes state and snapshot atomically. Every later call sees the new values. Starts a new replay session if one of
  /// them changed.
  func change(_ body: (inout Core) -> Void) {
    core.withLock { core in
      let (state, active) = (core.state, core.active)
      body(&core)
      if core.state != state || core.active !== active { core.session = ReplaySession() }
    }
  }
}
