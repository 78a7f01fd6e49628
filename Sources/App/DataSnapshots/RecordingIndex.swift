import Foundation
import SnapshotFormat

/// What is recorded, from memory: for each identifier its calls, and which recording is the oldest of all.
struct RecordingIndex {
  private struct Slot {
    let recording: Storage.Recording
    /// Grows with each recording that is put here.
    let number: UInt64
  }

  private var slots: [RecordingName: Slot] = [:]
  private var calls: [String: [RecordingName]] = [:]
  /// The oldest first; some are gone from `slots`, or stand there under another number.
  private var order: [(name: RecordingName, number: UInt64)] = []
  private var head = 0
  private var lastNumber: UInt64 = 0
  /// The bytes of all recordings.
  private(set) var bytes: Int64 = 0

  /// What was found in the folder.
  init(_ recordings: [Storage.Recording]) {
    for recording in recordings.sorted(by: { $0.recordedAt < $1.recordedAt }) { put(recording) }
    for stem in calls.keys { calls[stem]?.sort { ($0.call ?? 0) < ($1.call ?? 0) } }
  }

  var count: Int { slots.count }

  /// Every identifier, in no order.
  var identifiers: [String] {
    calls.values.compactMap { $0.first.flatMap { slots[$0]?.recording.identifier } }
  }

  /// The calls under the identifier that `name` is made of, in their order.
  func calls(of name: RecordingName) -> [RecordingName] { calls[name.stem] ?? [] }

  /// The name for the next call.
  func nextCall(of name: RecordingName) -> RecordingName {
    RecordingName(name, call: (calls(of: name).last?.call ?? 0) + 1)
  }

  func size(of name: RecordingName) -> Int64 { slots[name]?.recording.size ?? 0 }

  /// The recording that has been here longest.
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

  /// Whether these recordings are here, and no others.
  func holds(_ recordings: [Storage.Recording]) -> Bool {
    recordings.count == count && recordings.allSatisfy { slots[$0.name]?.recording.size == $0.size }
  }

  /// Adds a recording, or replaces the one of the same name.
  mutating func put(_ recording: Storage.Recording) {
    lastNumber += 1
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

  /// Forgets a recording.
  mutating func remove(_ name: RecordingName) {
    guard let slot = slots.removeValue(forKey: name) else { return }
    bytes -= slot.recording.size
    calls[name.stem]?.removeAll { $0 == name }
    if calls[name.stem]?.isEmpty == true { calls[name.stem] = nil }
  }
}
