import Foundation
import SnapshotFormat

/// An in-memory index of the recordings: the calls of each identifier, and the order of age.
struct RecordingIndex {
  private struct Slot {
    let recording: Storage.Recording
    /// The number of the write. Each one is greater than the last.
    let number: UInt64
  }

  private var slots: [RecordingName: Slot] = [:]
  private var calls: [String: [RecordingName]] = [:]
  /// The recordings, oldest first. Entries whose recording was removed, or written again under another number, are
  /// stale and skipped.
  private var order: [(name: RecordingName, number: UInt64)] = []
  private var head = 0
  private var lastNumber: UInt64 = 0
  /// When the recording that was written last was recorded.
  private(set) var newest: Date?
  /// The total size of all recordings, in bytes.
  private(set) var bytes: Int64 = 0

  /// Creates an index of the recordings found in the folder.
  init(_ recordings: [Storage.Recording]) {
    for recording in recordings.sorted(by: { $0.recordedAt < $1.recordedAt }) { put(recording) }
    for stem in calls.keys { calls[stem]?.sort { ($0.call ?? 0) < ($1.call ?? 0) } }
  }

  var count: Int { slots.count }

  /// All identifiers, in no particular order.
  var identifiers: [String] {
    calls.values.compactMap { $0.first.flatMap { slots[$0]?.recording.identifier } }
  }

  /// Returns the calls of the identifier that `name` is made from, in order.
  func calls(of name: RecordingName) -> [RecordingName] { calls[name.stem] ?? [] }

  /// Returns the name of the next call.
  func nextCall(of name: RecordingName) -> RecordingName {
    RecordingName(name, call: (calls(of: name).last?.call ?? 0) + 1)
  }

  func recordedAt(of name: RecordingName) -> Date? { slots[name]?.recording.recordedAt }

  func size(of name: RecordingName) -> Int64 { slots[name]?.recording.size ?? 0 }

  /// The recording that was written least recently, or `nil` if there are none.
  var oldest: Storage.Recording? {
    mutating get {
      while head < order.count {
        let (name, number) = order[head]
        if let slot = slots[name], slot.number == number { return slot.recording }
        head += 1
      }
      return nil
    }
  }

  /// Returns whether the index has exactly these recordings.
  func holds(_ recordings: [Storage.Recording]) -> Bool {
    recordings.count == count && recordings.allSatisfy { slots[$0.name]?.recording.size == $0.size }
  }

  /// Adds a recording, or replaces the one with the same name.
  mutating func put(_ recording: Storage.Recording) {
    lastNumber += 1
    newest = recording.recordedAt
    bytes += recording.size - size(of: recording.name)
    if slots.updateValue(Slot(recording: recording, number: lastNumber), forKey: recording.name) == nil {
      calls[recording.name.stem, default: []].append(recording.name)
    }
    order.append((recording.name, lastNumber))
    if order.count > 2 * slots.count + 64 {
      order = order[head...].filter { slots[$0.name]?.number == $0.number }
      head = 0
    }
  }

  /// Removes a recording from the index.
  mutating func remove(_ name: RecordingName) {
    guard let slot = slots.removeValue(forKey: name) else { return }
    bytes -= slot.recording.size
    calls[name.stem]?.removeAll { $0 == name }
    if calls[name.stem]?.isEmpty == true { calls[name.stem] = nil }
  }
}
