import Foundation
import SnapshotFormat
import Synchronization
import SystemIO

/// Takes data at once and writes it by and by, on one queue.
final class Recorder: Sendable {
  private struct Item {
    let data: Data
    let time: Date
  }

  /// What is not on the disk yet; the latest under an identifier takes the place of one that still waits.
  private struct Waiting {
    var items: [String: Item] = [:]
    /// The items that are being written just now, for those who want to read them meanwhile.
    var leaving: [String: Item] = [:]
    var bytes = 0
    var isScheduled = false
  }

  /// Where all writing is done.
  let queue = WorkQueue("recorder")
  private let storage: Storage
  private let configuration: SnapshotMode.Configuration
  private let waiting = Mutex(Waiting())

  init(storage: Storage, configuration: SnapshotMode.Configuration) {
    self.storage = storage
    self.configuration = configuration
  }

  /// Keeps `data` as the latest under `identifier`.
  func record(_ data: Data, as identifier: String) {
    let longest = Manifest.Limits.default.identifierLength
    guard identifier.utf8.count <= longest else {
      return refuse(identifier, "the identifier has \(identifier.utf8.count) bytes, the most are \(longest)")
    }
    let item = Item(data: data, time: configuration.clock())
    let most = configuration.waitingBytes
    let (isTaken, isFirst) = waiting.withLock { waiting in
      let bytes = waiting.bytes + data.count - (waiting.items[identifier]?.data.count ?? 0)
      guard bytes <= most else { return (false, false) }
      waiting.items[identifier] = item
      waiting.bytes = bytes
      defer { waiting.isScheduled = true }
      return (true, !waiting.isScheduled)
    }
    guard isTaken else {
      return refuse(identifier, "more than \(most) bytes would be waiting for the disk")
    }
    if isFirst { queue.async { [self] in writeWaiting() } }
  }

  private func refuse(_ identifier: String, _ reason: String) {
    configuration.onEvent(.init(.recordingRefused, identifier: identifier, reason))
  }

  /// What was recorded last under `identifier`, on the disk yet or not.
  func data(for identifier: String) throws(ReplayProblem) -> Data {
    if let item = waiting.withLock({ $0.items[identifier] ?? $0.leaving[identifier] }) { return item.data }
    do {
      if let data = try storage.read(identifier) { return data }
    } catch {
      throw .unreadable("\(error)")
    }
    throw .missing
  }

  // MARK: - On the queue

  /// Writes what waits. On ``queue`` only.
  private func writeWaiting() {
    let items = waiting.withLock { waiting in
      swap(&waiting.items, &waiting.leaving)
      waiting.isScheduled = false
      return waiting.leaving
    }
    for (identifier, item) in items {
      do {
        try storage.write(item.data, as: identifier, at: item.time)
      } catch {
        configuration.onEvent(.init(.recordingFailed, identifier: identifier, "\(error)"))
      }
    }
    waiting.withLock { waiting in
      waiting.bytes -= items.values.reduce(0) { $0 + $1.data.count }
      waiting.leaving = [:]
    }
  }

  /// Everything that was recorded before the call. On ``queue`` only.
  func list() throws(SystemError) -> [Storage.Recording] {
    writeWaiting()
    return try storage.list { name in
      configuration.onEvent(.init(.leftover, "recordings/\(name) is no recording; it is passed over"))
    }
  }

  /// Gives everything that was recorded before the call a second name in a new folder, so that it stays as it is
  /// whatever is recorded later. On ``queue`` only.
  func freeze(into folder: String) throws(SystemError) -> [SnapshotBundle.Source] {
    try Folder.create(folder)
    var sources: [SnapshotBundle.Source] = []
    for recording in try list() {
      let path = folder + "/\(recording.name)"
      try Folder.link(storage.recordings + "/\(recording.name)", as: path)
      sources.append(
        .init(
          identifier: recording.identifier, file: URL(filePath: path), recordedAt: recording.recordedAt))
    }
    return sources
  }

  /// Forgets everything that was recorded before the call. On ``queue`` only.
  func clear() throws(SystemError) {
    waiting.withLock { waiting in
      waiting.bytes -= waiting.items.values.reduce(0) { $0 + $1.data.count }
      waiting.items = [:]
    }
    try storage.removeRecordings()
  }
}
