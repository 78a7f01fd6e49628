/// What of the rows of an index that is made anew waits to be written in the order of their places: rows come in the
/// order of their ids, so that each would go between two that lie elsewhere.
struct Backlog {
  /// A row's entry in the list.
  struct Entry {
    let place: Int64
    let number: Int64
    let received: Int64
    let size: Int64
  }

  /// What a row is found by.
  struct Found {
    let place: Int64
    let terms: IndexWriter.Terms
  }

  /// The most entries that wait: 2 MB.
  private static let entryLimit = 1 << 16
  /// The most bytes of terms that wait.
  private static let termLimit = 16 << 20

  private var entries: [Entry] = []
  private var found: [Found] = []
  private var bytes = 0

  mutating func add(_ entry: Entry, _ terms: IndexWriter.Terms) {
    entries.append(entry)
    found.append(Found(place: entry.place, terms: terms))
    bytes += terms.description.utf8.count + terms.identifiers.utf8.count + 64
  }

  /// The entries, in their order, once there are enough of them or where `all` are wanted.
  mutating func takeEntries(all: Bool) -> [Entry] {
    guard all || entries.count >= Self.entryLimit else { return [] }
    defer { entries.removeAll() }
    return entries.sorted { $0.place < $1.place }
  }

  /// The terms in the order of their places, once there are enough of them or where `all` are wanted.
  mutating func takeTerms(all: Bool) -> [Found] {
    guard all || bytes >= Self.termLimit else { return [] }
    defer { (found, bytes) = ([], 0) }
    return found.sorted { $0.place < $1.place }
  }
}
