import Foundation
import SnapshotFormat
import SystemIO

/// The exclusive use of a folder by one ``SnapshotMode``, as a lock on a file in it. The system releases the lock when
/// the process ends, also by a crash. Safe to use from any thread.
final class FolderClaim: Sendable {
  private enum State {
    case free
    case held(File)
    case released
  }

  private let storage: Storage
  private let state = Lock(State.free)

  init(_ storage: Storage) { self.storage = storage }

  /// Takes the folder, and creates it if `isNeeded`.
  /// - Returns: whether this instance may use it; `false` if another one does.
  func take(isNeeded: Bool) -> Bool {
    state.withLock { state in
      switch state {
      case .held: return true
      case .released: return false
      case .free: break
      }
      do {
        if isNeeded { try PrivateFolder.create(storage.folder) }
        let lock = try File(storage.lock, .openOrCreate(mode: 0o600))
        guard try lock.tryLock() else { return false }
        state = .held(lock)
        return true
      } catch {
        // Without a folder there is nothing to protect. If it can't be written, every write reports that.
        return true
      }
    }
  }

  /// Whether this instance has the folder and has not released it.
  var isHeld: Bool {
    state.withLock { state in if case .released = state { false } else { true } }
  }

  /// Releases the folder for good.
  func release() {
    state.withLock { state in
      // Closing the file releases the lock even if this call fails.
      if case .held(let lock) = state { do { try lock.unlock() } catch {} }
      state = .released
    }
  }

  /// The maximum number of instances of one program with folders of their own.
  static let mostPerProcess = 16

  /// Takes the first folder of this program in `folder` that no other instance uses.
  static func takeOwn(in folder: String) -> (storage: Storage, claim: FolderClaim) {
    let name = RecordingName(Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName)
    var number = 1
    while true {
      let suffix = number == 1 ? "" : "@\(number)"
      let storage = Storage(folder: "\(folder)/processes/\(name)\(suffix)")
      let claim = FolderClaim(storage)
      if claim.take(isNeeded: true) || number == mostPerProcess { return (storage, claim) }
      number += 1
    }
  }
}
