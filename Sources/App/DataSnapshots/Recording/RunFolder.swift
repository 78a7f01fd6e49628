import Foundation
import SnapshotFormat
import SystemIO

/// Knows when this run began, and keeps the recordings of the run before it. Only on the recorder's queue.
///
///     run.json             when the run began, and when it ended in good order
///     previous/run.json    the same of the previous run
///     previous/…           links to its recordings, identifiers and attachments
final class RunFolder: Sendable {
  /// `run.json`.
  private struct Mark: Codable {
    var began: Date
    var ended: Date?

    static let sizeLimit = 4096
  }

  private struct State {
    var hasBegun = false
    var isLoaded = false
    var previous: SnapshotMode.PreviousRun?
    /// The recordings of the previous run whose data the current recordings still share.
    var shared: [RecordingName: Storage.Recording] = [:]
    /// The others, oldest first.
    var held: [Storage.Recording] = []
    var heldBytes: Int64 = 0
  }

  private let storage: Storage
  private let state = Lock(State())

  init(_ storage: Storage) { self.storage = storage }

  /// Where the recordings of the previous run are.
  var previousStorage: Storage { Storage(folder: storage.previous) }

  // MARK: - This run

  /// Stores `time` as the beginning of the run, at its first recording.
  func begin(at time: Date) throws {
    guard !state.withLock({ $0.hasBegun }) else { return }
    try save(Mark(began: time, ended: nil))
    state.withLock { $0.hasBegun = true }
  }

  /// Records that the run would end in good order at `time`; `nil` if it would not. Does nothing if it recorded nothing.
  func recordEnd(at time: Date?) throws {
    guard state.withLock({ $0.hasBegun }), var mark = try load(storage.run) else { return }
    mark.ended = time
    try save(mark)
  }

  private func save(_ mark: Mark) throws {
    let json = Array(try SnapshotJSON.encode(mark))
    do {
      try DurableFile.replace(storage.run, with: json)
    } catch  where error.isNotFound {
      try Folder.create(storage.folder)
      try DurableFile.replace(storage.run, with: json)
    }
  }

  private func load(_ path: String) throws -> Mark? {
    do {
      return try SnapshotJSON.decode(Mark.self, from: Data(try File(path).read(upTo: Mark.sizeLimit, at: 0)))
    } catch let error as SystemError where error.isNotFound {
      return nil
    }
  }

  // MARK: - The previous run

  /// Links `recordings`, and everything that belongs to them, as those of the previous run, in place of those of an
  /// older one. Does nothing if no run has recorded anything since, unless `hasRecovered`.
  func setAside(_ recordings: [Storage.Recording], hasRecovered: Bool) throws {
    let mark: Mark?
    // A damaged mark does not keep the recordings from being set aside.
    do { mark = try load(storage.run) } catch is DecodingError { mark = Mark(began: .distantPast) }
    guard mark != nil || hasRecovered else { return }
    let times = recordings.map(\.recordedAt)
    let run = Mark(began: mark?.began ?? times.min() ?? .distantPast, ended: mark?.ended)
    let staged = storage.previous + ".staged"
    try Folder.removeTree(staged)
    try Folder.removeTree(storage.previous)
    let copy = Storage(folder: staged)
    for folder in [\Storage.recordings, \.exchanges, \.identifiers, \.attachments] {
      try link(storage[keyPath: folder], as: copy[keyPath: folder])
    }
    if Folder.isRegularFile(storage.redactions) { try Folder.link(storage.redactions, as: copy.redactions) }
    if Folder.isRegularFile(storage.dropped) { try Folder.link(storage.dropped, as: copy.dropped) }
    try DurableFile.replace(copy.run, with: Array(try SnapshotJSON.encode(run)))
    try Folder.replace(storage.previous, with: staged)
    try Folder.removeIfPresent(storage.run)
    state.withLock { $0 = State() }
  }

  private func link(_ folder: String, as copy: String) throws(SystemError) {
    try Folder.create(copy)
    let names: [String]
    do { names = try Folder.entries(folder) } catch  where error.isNotFound { return }
    for name in names where Folder.isRegularFile(folder + "/" + name) {
      try Folder.link(folder + "/" + name, as: copy + "/" + name)
    }
  }

  /// The previous run; `nil` if nothing is kept of it.
  var previous: SnapshotMode.PreviousRun? {
    loadPrevious()
    return state.withLock { $0.previous }
  }

  /// Removes everything of the previous run.
  func discard() throws(SystemError) {
    try Folder.removeTree(storage.previous)
    state.withLock { state in
      state.previous = nil
      (state.shared, state.held, state.heldBytes) = ([:], [], 0)
      state.isLoaded = true
    }
  }

  /// Reads the folder, once. If it can't be read, there is no previous run.
  private func loadPrevious() {
    guard !state.withLock({ $0.isLoaded }) else { return }
    let mark: Mark?
    do { mark = try load(previousStorage.run) } catch { mark = nil }
    let kept = mark == nil ? [] : recordings(in: previousStorage)
    let current = kept.isEmpty ? [] : recordings(in: storage)
    let places = Dictionary(current.map { ($0.name, $0) }) { first, _ in first }
    state.withLock { state in
      state.isLoaded = true
      guard let mark else { return }
      for recording in kept {
        if let same = places[recording.name], same.size == recording.size,
          same.recordedAt == recording.recordedAt
        {
          state.shared[recording.name] = recording
        } else {
          state.held.append(recording)
          state.heldBytes += recording.size
        }
      }
      state.held.sort { $0.recordedAt < $1.recordedAt }
      let ended = mark.ended ?? kept.map(\.recordedAt).max() ?? mark.began
      state.previous = SnapshotMode.PreviousRun(
        endedInGoodOrder: mark.ended != nil, began: min(mark.began, ended), ended: ended,
        recordings: kept.count, bytes: kept.reduce(0) { $0 + $1.size })
    }
  }

  private func recordings(in storage: Storage) -> [Storage.Recording] {
    do { return try storage.list { _ in } } catch { return [] }
  }

  // MARK: - Limits

  /// The bytes that only the previous run uses.
  var heldBytes: Int64 {
    loadPrevious()
    return state.withLock { $0.heldBytes }
  }

  /// Whether the previous run has the same data as the current recording `name`, so that it stays when that is replaced.
  func isShared(_ name: RecordingName) -> Bool {
    loadPrevious()
    return state.withLock { $0.shared[name] != nil }
  }

  /// The time of the oldest recording that only the previous run has.
  var oldestHeld: Date? { state.withLock { $0.held.first?.recordedAt } }

  /// Records that the current recording `name` is replaced or removed, so that only the previous run has its data.
  func release(_ name: RecordingName) {
    loadPrevious()
    state.withLock { state in
      guard let recording = state.shared.removeValue(forKey: name) else { return }
      let place = state.held.firstIndex { $0.recordedAt > recording.recordedAt } ?? state.held.count
      state.held.insert(recording, at: place)
      state.heldBytes += recording.size
    }
  }

  /// Removes the oldest recording that only the previous run has.
  func removeOldestHeld() throws(SystemError) {
    guard let oldest = state.withLock({ $0.held.first }) else { return }
    try previousStorage.remove(oldest.name, isLast: false)
    state.withLock { state in
      state.held.removeFirst()
      state.heldBytes -= oldest.size
      guard let run = state.previous else { return }
      state.previous = SnapshotMode.PreviousRun(
        endedInGoodOrder: run.endedInGoodOrder, began: run.began, ended: run.ended,
        recordings: run.recordings - 1, bytes: run.bytes - oldest.size)
    }
  }
}
