import Foundation
import HTTPClient
import SnapshotFormat

/// The state and decisions of a queue, without disk, clock or network access.
struct QueueCore: Sendable {
  private let backOff: BackOff
  private let concurrentUploads: Int
  private var items: [SnapshotID: QueuedUpload]
  /// The uploads that the caller asked to retry immediately; they ignore delays.
  private var urgent: Set<SnapshotID> = []
  /// Whether the server rejected the token. Other uploads would be rejected too.
  private var isTokenRefused = false
  private var changed: [QueuedUpload] = []
  /// The running uploads for which the server has received more bytes in the current attempt.
  private var advanced: Set<SnapshotID> = []

  init(_ items: [QueuedUpload], backOff: BackOff, concurrentUploads: Int) {
    self.items = Dictionary(items.map { ($0.id, $0) }) { $1 }
    self.backOff = backOff
    self.concurrentUploads = max(1, concurrentUploads)
  }

  subscript(id: SnapshotID) -> QueuedUpload? { items[id] }

  /// All uploads, oldest first.
  var ordered: [QueuedUpload] {
    items.values.sorted { ($0.attachedAt, $0.id) < ($1.attachedAt, $1.id) }
  }

  /// Returns the uploads that changed since the last call.
  mutating func takeChanges() -> [QueuedUpload] {
    defer { changed = [] }
    return changed
  }

  // MARK: - Scheduling

  /// Marks the uploads that can start now as uploading, and updates what the others wait for.
  mutating func takeDue(at now: Date, permitted: [SnapshotID: Bool]) -> [QueuedUpload] {
    limitWaits(at: now)
    let hold = serverHold
    var free = concurrentUploads - items.values.count { $0.state == .uploading }
    var taken: [QueuedUpload] = []
    for var item in ordered.sorted(by: { urgent.contains($0.id) && !urgent.contains($1.id) }) {
      // An upload without an entry was added after the network policy was asked; its own call of `pump` follows.
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

  /// The earliest time at which an upload that waits for its time can start.
  var nextDue: Date? {
    let hold = serverHold
    return items.values.filter { $0.state == .waiting(.time) }.compactMap { dueTime(of: $0, hold: hold) }
      .min()
  }

  /// The time until which no upload to the server is started.
  private var serverHold: Date? {
    items.values.filter { item in
      guard case .waiting = item.state, let failure = item.lastFailure else { return false }
      return SnapshotClientError.concernsServer(failure.code)
    }.compactMap(\.nextTry).max()
  }

  private func dueTime(of item: QueuedUpload, hold: Date?) -> Date? {
    urgent.contains(item.id) ? nil : [item.nextTry, hold].compactMap(\.self).max()
  }

  /// Limits the waiting times, in case the clock was set back: no upload waits for longer than it had to when it failed.
  private mutating func limitWaits(at now: Date) {
    for var item in items.values {
      guard let next = item.nextTry else { continue }
      let wait = item.lastFailure.map { next.timeIntervalSince($0.date) } ?? backOff.longest
      let latest = now.addingTimeInterval(min(max(wait, 0), backOff.longest))
      guard next > latest else { continue }
      item.nextTry = SnapshotJSON.milliseconds(of: latest)
      // The failure was before now. The wait is known by this time, too, if the clock is set back again.
      item.lastFailure?.date = now
      put(item)
    }
  }

  // MARK: - Results

  /// Returns the upload of `id` as it is after a success; `nil` if it was removed.
  func succeeded(_ id: SnapshotID, at now: Date) -> QueuedUpload? {
    guard var item = items[id], item.state == .uploading else { return nil }
    item.state = .done
    item.progress = nil
    item.lastFailure = nil
    item.endedAt = now
    item.hasBundle = false
    return item
  }

  /// Returns the upload of `id` as it is after a failure; `nil` if it was removed.
  func failed(
    _ id: SnapshotID, _ error: SnapshotClientError, at now: Date, random: Double
  ) -> QueuedUpload? {
    guard var item = items[id], item.state == .uploading else { return nil }
    item.progress = nil
    let failure = QueuedUpload.Failure(
      code: error.code, status: error.status, description: error.description, date: now)
    item.failures = advanced.contains(id) ? 1 : item.failures + 1
    let isRepeated = item.lastFailure?.code == failure.code && item.lastFailure?.status == failure.status
    item.lastFailure = failure
    switch UploadVerdict(error, repetitions: isRepeated ? item.failures : 1) {
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

  /// Stores the result of an upload, unless the upload was removed in the meantime.
  mutating func settle(_ item: QueuedUpload) {
    guard items[item.id] != nil else { return }
    put(item)
    if item.state == .waiting(.token), item.lastFailure?.status != 403 { isTokenRefused = true }
    if item.state == .done, isTokenRefused { tokenChanged() }
  }

  /// Marks the bundle of a finished upload as removed, unless the upload was retried in the meantime.
  mutating func releaseBundle(of id: SnapshotID) -> QueuedUpload? {
    guard var item = items[id], item.state.isFinal, item.hasBundle else { return nil }
    item.hasBundle = false
    put(item)
    return item
  }

  /// Returns a cancelled upload to the waiting state. This does not count as a failure.
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

  /// Stores the number of bytes that the server has received.
  mutating func kept(_ count: Int64, of id: SnapshotID) {
    guard var item = items[id], item.state == .uploading else { return }
    if count > item.kept { advanced.insert(id) }
    item.kept = count
    put(item)
  }

  // MARK: - Requests of the caller

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

  /// Returns whether the upload is now scheduled, running or done.
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

  /// Lets the upload of `id`, of which the system sends a piece, continue before others and without a delay.
  /// - Returns: whether there is such an upload.
  mutating func takeOver(_ id: SnapshotID) -> Bool {
    guard let item = items[id], case .waiting = item.state else { return false }
    return retryNow(id)
  }

  mutating func retryAllNow() {
    for item in items.values {
      if case .waiting = item.state { _ = retryNow(item.id) }
    }
  }

  /// Allows uploads that failed because of the connection to be retried immediately.
  mutating func connectionChanged() {
    for var item in items.values where item.nextTry != nil {
      guard let failure = item.lastFailure, SnapshotClientError.concernsConnection(failure) else { continue }
      item.nextTry = nil
      put(item)
    }
  }

  /// Allows uploads that wait for a token to be retried immediately.
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
