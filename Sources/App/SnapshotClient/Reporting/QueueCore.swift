import Foundation
import HTTPTransport
import SnapshotFormat

/// What a queue knows and how it decides: no disk, no clock, no network.
struct QueueCore: Sendable {
  private let backOff: BackOff
  private let concurrentUploads: Int
  private var items: [SnapshotID: QueuedUpload]
  /// Those that were asked for by hand: they wait for no time.
  private var urgent: Set<SnapshotID> = []
  /// Whether the server did not know the token, so that it would know it for no other upload either.
  private var isTokenRefused = false
  private var changed: [QueuedUpload] = []
  /// Those of which the server got more in the try that runs.
  private var advanced: Set<SnapshotID> = []

  init(_ items: [QueuedUpload], backOff: BackOff, concurrentUploads: Int) {
    self.items = Dictionary(items.map { ($0.id, $0) }) { $1 }
    self.backOff = backOff
    self.concurrentUploads = max(1, concurrentUploads)
  }

  subscript(id: SnapshotID) -> QueuedUpload? { items[id] }

  /// All of them, oldest first.
  var ordered: [QueuedUpload] {
    items.values.sorted { ($0.attachedAt, $0.id) < ($1.attachedAt, $1.id) }
  }

  /// What changed since this was called the last time.
  mutating func takeChanges() -> [QueuedUpload] {
    defer { changed = [] }
    return changed
  }

  // MARK: - What goes out, and when

  /// Marks those as uploading that may go out now, and says of the others what they wait for.
  mutating func takeDue(at now: Date, permitted: [SnapshotID: Bool]) -> [QueuedUpload] {
    limitWaits(at: now)
    let hold = serverHold
    var free = concurrentUploads - items.values.count { $0.state == .uploading }
    var taken: [QueuedUpload] = []
    for var item in ordered.sorted(by: { urgent.contains($0.id) && !urgent.contains($1.id) }) {
      // One for which nobody has asked came just now, and whoever brought it asks next.
      guard case .waiting(let former) = item.state, let isPermitted = permitted[item.id] else { continue }
      let due = dueTime(of: item, hold: hold)
      if former == .token || (isTokenRefused && !urgent.contains(item.id)) {
        item.state = .waiting(.token)
      } else if let due, due > now {
        item.state = .waiting(.time)
      } else if !isPermitted {
        item.state = .waiting(.network)
      } else if free <= 0 {
        item.state = .waiting(.turn)
      } else {
        free -= 1
        urgent.remove(item.id)
        advanced.remove(item.id)
        item.state = .uploading
        item.nextTry = nil
        taken.append(item)
      }
      put(item)
    }
    return taken
  }

  /// When the first of those that wait for time may go out.
  var nextDue: Date? {
    let hold = serverHold
    return items.values.filter { $0.state == .waiting(.time) }.compactMap { dueTime(of: $0, hold: hold) }
      .min()
  }

  /// Until when the server is left alone.
  private var serverHold: Date? {
    items.values.filter { item in
      guard case .waiting = item.state, let failure = item.lastFailure else { return false }
      return SnapshotClientError.concernsServer(failure.code)
    }.compactMap(\.nextTry).max()
  }

  private func dueTime(of item: QueuedUpload, hold: Date?) -> Date? {
    urgent.contains(item.id) ? nil : [item.nextTry, hold].compactMap(\.self).max()
  }

  /// A clock that was set back must not make anything wait for years.
  private mutating func limitWaits(at now: Date) {
    let latest = now.addingTimeInterval(backOff.longest)
    for var item in items.values where item.nextTry.map({ $0 > latest }) == true {
      item.nextTry = latest
      put(item)
    }
  }

  // MARK: - What comes of it

  /// The upload of `id` as it is to be after a success; `nil` where it is no longer here.
  func succeeded(_ id: SnapshotID, at now: Date) -> QueuedUpload? {
    guard var item = items[id], item.state == .uploading else { return nil }
    item.state = .done
    item.progress = nil
    item.lastFailure = nil
    item.endedAt = now
    item.hasBundle = false
    return item
  }

  /// The upload of `id` as it is to be after a failure; `nil` where it is no longer here.
  func failed(
    _ id: SnapshotID, _ error: SnapshotClientError, at now: Date, random: Double
  ) -> QueuedUpload? {
    guard var item = items[id], item.state == .uploading else { return nil }
    item.progress = nil
    let failure = QueuedUpload.Failure(
      code: error.code, status: error.status, description: error.description, date: now)
    item.failures = advanced.contains(id) ? 1 : item.failures + 1
    item.lastFailure = failure
    switch UploadVerdict(error) {
    case .retry:
      let delay = backOff.delay(
        afterFailure: item.failures, retryAfter: error.retryAfter, random: random)
      item.state = .waiting(.time)
      item.nextTry = SnapshotJSON.milliseconds(of: now.addingTimeInterval(delay))
    case .needsToken:
      item.state = .waiting(.token)
    case .giveUp:
      item.state = .failed(failure)
      item.endedAt = now
    }
    return item
  }

  /// Takes an upload as it has become; one that was removed meanwhile stays away.
  mutating func settle(_ item: QueuedUpload) {
    guard items[item.id] != nil else { return }
    put(item)
    if item.state == .waiting(.token), item.lastFailure?.status != 403 { isTokenRefused = true }
    if item.state == .done, isTokenRefused { tokenChanged() }
  }

  /// Gives up the bundle of a failed upload, unless that was asked for again.
  mutating func releaseBundle(of id: SnapshotID) -> QueuedUpload? {
    guard var item = items[id], item.state.isFinal, item.hasBundle else { return nil }
    item.hasBundle = false
    put(item)
    return item
  }

  /// Lets what was stopped wait again; that is no failure.
  mutating func stopped(_ id: SnapshotID) {
    guard var item = items[id], item.state == .uploading else { return }
    item.state = .waiting(.turn)
    item.progress = nil
    put(item)
  }

  mutating func progressed(_ id: SnapshotID, _ progress: TransportProgress) {
    guard var item = items[id], item.state == .uploading else { return }
    item.progress = progress
    put(item)
  }

  /// Takes that the server says to have so many bytes.
  mutating func kept(_ count: Int64, of id: SnapshotID) {
    guard var item = items[id], item.state == .uploading else { return }
    if count > item.kept { advanced.insert(id) }
    item.kept = count
    put(item)
  }

  // MARK: - What is asked for

  mutating func add(_ item: QueuedUpload) { put(item) }

  mutating func remove(_ id: SnapshotID) {
    guard var item = items.removeValue(forKey: id) else { return }
    urgent.remove(id)
    advanced.remove(id)
    item.state = .removed
    item.progress = nil
    item.hasBundle = false
    changed.append(item)
  }

  /// Answers whether there is something to be tried, or that is tried or done already.
  mutating func retryNow(_ id: SnapshotID) -> Bool {
    guard var item = items[id] else { return false }
    switch item.state {
    case .uploading, .done: return true
    case .removed: return false
    case .waiting, .failed: break
    }
    guard item.hasBundle else { return false }
    item.state = .waiting(.turn)
    item.nextTry = nil
    item.endedAt = nil
    urgent.insert(id)
    put(item)
    return true
  }

  mutating func retryAllNow() {
    for item in items.values {
      if case .waiting = item.state { _ = retryNow(item.id) }
    }
  }

  /// Lets what failed for want of a connection be tried at once.
  mutating func connectionChanged() {
    for var item in items.values where item.nextTry != nil {
      guard let failure = item.lastFailure, SnapshotClientError.concernsConnection(failure) else { continue }
      item.nextTry = nil
      put(item)
    }
  }

  /// Lets what waits for a token be tried at once.
  mutating func tokenChanged() {
    isTokenRefused = false
    for var item in items.values where item.state == .waiting(.token) {
      item.state = .waiting(.turn)
      put(item)
    }
  }

  private mutating func put(_ item: QueuedUpload) {
    guard items[item.id] != item else { return }
    items[item.id] = item
    changed.append(item)
  }
}
