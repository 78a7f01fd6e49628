import Foundation
import SnapshotFormat
import SystemIO

/// `dropped.json`: what was not recorded, or was removed again, and why. Kept across launches until everything is
/// cleared. Safe to use from any thread.
final class DroppedTable: Sendable {
  private struct State {
    var entries: [Manifest.Dropped]?
    var isChanged = false
  }

  /// The maximum number of entries. What exceeds it is counted without its identifier.
  static let limit = 500
  /// The maximum length of an identifier in UTF-8 bytes. A longer one is shortened.
  static let identifierLength = 500
  private static let sizeLimit = 1 << 20

  private let storage: Storage
  private let state = Lock(State())

  init(_ storage: Storage) { self.storage = storage }

  /// All entries, in the order in which they were first added.
  var all: [Manifest.Dropped] { change { $0 } }

  /// Counts one more. `identifier` is redacted.
  func add(_ reason: Manifest.Dropped.Reason, _ identifier: String, _ bytes: Int64) {
    var name: String? = Self.shortened(identifier)
    change { entries in
      if entries.count >= Self.limit,
        !entries.contains(where: { $0.identifier == name && $0.reason == reason })
      {
        name = nil
      }
      if let place = entries.firstIndex(where: { $0.identifier == name && $0.reason == reason }) {
        entries[place].count += 1
        entries[place].bytes += bytes
      } else {
        entries.append(.init(identifier: name, reason: reason, count: 1, bytes: bytes))
      }
    } isChange: {
      true
    }
  }

  /// Removes the entries of an identifier whose latest data is recorded now.
  func remove(_ identifier: String) {
    let name = Self.shortened(identifier)
    guard all.contains(where: { $0.identifier == name }) else { return }
    change { entries in
      entries.removeAll { $0.identifier == name }
    } isChange: {
      true
    }
  }

  /// Removes all entries.
  func clear() throws(SystemError) {
    state.withLock { $0 = State(entries: [], isChanged: false) }
    try Folder.removeIfPresent(storage.dropped)
  }

  /// Writes the file if the entries have changed. Nothing is flushed: a crash of the app does not lose it.
  func save() {
    guard
      let entries = state.withLock({ state in
        defer { state.isChanged = false }
        return state.isChanged ? state.entries : nil
      })
    else { return }
    // What can't be saved, as on a full disk, is still in this run's snapshots.
    do {
      let staged = storage.dropped + ".staged"
      try Folder.removeIfPresent(staged)
      try File(staged, .create(mode: 0o600)).write(Array(try SnapshotJSON.encode(entries)), at: 0)
      try Folder.replace(storage.dropped, with: staged)
    } catch {
      state.withLock { $0.isChanged = true }
    }
  }

  /// The entries in `storage`; empty if there are none.
  static func load(_ storage: Storage) -> [Manifest.Dropped] {
    // Entries that can't be read are not missed: they only explain what is missing.
    do {
      let json = Data(try File(storage.dropped).read(upTo: sizeLimit, at: 0))
      return try SnapshotJSON.decode([Manifest.Dropped].self, from: json)
    } catch {
      return []
    }
  }

  /// The entries of what the user does not send, as many as the table has at most.
  static func withheld(_ contents: [SnapshotMode.Content]) -> [Manifest.Dropped] {
    var entries = contents.prefix(limit).map { content in
      Manifest.Dropped(
        identifier: shortened(content.id), reason: .withheld, count: content.calls, bytes: content.bytes)
    }
    let others = contents.dropFirst(limit)
    if !others.isEmpty {
      entries.append(
        .init(
          identifier: nil, reason: .withheld, count: others.reduce(0) { $0 + $1.calls },
          bytes: others.reduce(0) { $0 + $1.bytes }))
    }
    return entries
  }

  private static func shortened(_ identifier: String) -> String {
    guard identifier.utf8.count > identifierLength else { return identifier }
    return String(decoding: identifier.utf8.prefix(identifierLength), as: UTF8.self) + "…"
  }

  @discardableResult
  private func change<Value>(
    _ body: (inout [Manifest.Dropped]) -> Value, isChange: () -> Bool = { false }
  ) -> Value {
    state.withLock { state in
      var entries = state.entries ?? Self.load(storage)
      defer {
        state.entries = entries
        if isChange() { state.isChanged = true }
      }
      return body(&entries)
    }
  }
}
