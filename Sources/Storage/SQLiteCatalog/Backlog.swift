import Foundation
import SnapshotFormat
import SnapshotStore

/// Entries and terms of an index under construction that wait to be written in the order of their places. A rebuild
/// inserts rows in the order of their ids; written at once, each would go into the middle of both tables.
struct Backlog {
  /// A row of the table `listing`.
  struct Entry {
    let place: Int64
    let number: Int64
    let received: Int64
    let size: Int64
  }

  /// The search terms of a row.
  struct Found {
    let place: Int64
    let terms: IndexWriter.Terms
  }

  /// The number of entries that are written at once: 32 MB. They go to places all over the table, so that fewer would write
  /// nearly every page of a large table again and again.
  private static let entryLimit = 1 << 20
  /// The maximum number of bytes of terms that wait.
  private static let termLimit = 16 << 20

  private var entries: [Entry] = []
  private var found: [Found] = []
  private var bytes = 0

  mutating func add(_ entry: Entry, _ terms: IndexWriter.Terms) {
    // With room for the end of the transaction, so that this memory never grows.
    if entries.capacity == 0 { entries.reserveCapacity(Self.entryLimit + Self.entryLimit / 8) }
    entries.append(entry)
    found.append(Found(place: entry.place, terms: terms))
    bytes += terms.description.utf8.count + terms.identifiers.utf8.count + 64
  }

  /// Writes and removes the entries in the order of their places, if the limit is reached or `all` is set.
  mutating func writeEntries(all: Bool, _ write: (Entry) throws -> Void) rethrows {
    guard all || entries.count >= Self.entryLimit else { return }
    entries.sort { $0.place < $1.place }
    for entry in entries { try write(entry) }
    entries.removeAll(keepingCapacity: true)
  }

  /// Removes and returns the terms in the order of their places, if the limit is reached or `all` is set.
  mutating func takeTerms(all: Bool) -> [Found] {
    guard all || bytes >= Self.termLimit else { return [] }
    defer { (found, bytes) = ([], 0) }
    found.sort { $0.place < $1.place }
    return found
  }
}

/// A change that waits for the next transaction, which writes all waiting changes.
struct PendingChange: Sendable {
  enum Kind: Sendable {
    case add(SnapshotRecord)
    case insert([PreparedRecord])
    case remove(Data)
  }

  let kind: Kind
  let finish: @Sendable (CatalogError?) -> Void
}
