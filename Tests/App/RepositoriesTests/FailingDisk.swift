import Foundation
import Repositories
import SystemIO

/// A disk that can be full, broken, or lose power during a write.
final class FailingDisk: Sendable {
  enum Fault: Sendable {
    /// Every write fails with this `errno`.
    case writing(Int32)
    /// Every read fails with this `errno`.
    case reading(Int32)
    /// The write reaches half of the temporary file, and then the power fails.
    case powerCut
  }

  private let state = Lock<(fault: Fault?, writes: Int)>((nil, 0))

  var fault: Fault? {
    get { state.withLock { $0.fault } }
    set { state.withLock { $0.fault = newValue } }
  }

  /// The number of attempted writes.
  var writes: Int { state.withLock { $0.writes } }

  var disk: Disk {
    Disk(
      read: { [self] path, limit throws(SystemError) in
        if case .reading(let code) = fault { throw SystemError(operation: "open", path: path, code: code) }
        return try Disk.real.read(path, limit)
      },
      replace: { [self] path, bytes throws(SystemError) in
        state.withLock { $0.writes += 1 }
        switch fault {
        case .writing(let code): throw SystemError(operation: "pwrite", path: path, code: code)
        case .powerCut:
          try File("\(path).1-1.staged", .openOrCreate(mode: 0o600)).write(
            Array(bytes.prefix(bytes.count / 2)), at: 0)
          throw SystemError(operation: "pwrite", path: path, code: EIO)
        default: try Disk.real.replace(path, bytes)
        }
      })
  }
}

/// The received events, which a test can read and wait for.
final class EventLog: Sendable {
  private let events = Lock<[RepositoryEvent]>([])
  private let stream: AsyncStream<RepositoryEvent>
  private let continuation: AsyncStream<RepositoryEvent>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  var record: @Sendable (RepositoryEvent) -> Void {
    { [self] event in
      events.withLock { $0.append(event) }
      continuation.yield(event)
    }
  }

  var all: [RepositoryEvent] { events.withLock { $0 } }
  var kinds: [RepositoryEvent.Kind] { all.map(\.kind) }

  /// Waits for an event of this kind.
  func wait(for kind: RepositoryEvent.Kind) async {
    for await event in stream where event.kind == kind { return }
  }
}

/// The renames in a folder, and whether the folder was flushed directly after each.
final class RenameLog: Sendable {
  private let renames = Lock<(found: [String], isOpen: Bool)>(([], false))
  private let observer = Lock<FileObserver?>(nil)

  init(_ folder: String) {
    let new = FileObserver(folder) { [weak self] operation in
      self?.renames.withLock { renames in
        switch operation {
        case .rename(_, let path):
          renames.found.append(String(path.split(separator: "/").last ?? ""))
          renames.isOpen = true
        case .flushFolder:
          if renames.isOpen { renames.found[renames.found.count - 1] += " flushed" }
          renames.isOpen = false
        default: renames.isOpen = false
        }
      }
    }
    observer.withLock { $0 = new }
  }

  /// Ends the log, and returns the new names.
  func stop() -> [String] {
    observer.withLock { $0?.stop() }
    return renames.withLock { $0.found }
  }
}
