/// The keys of one object of a JSON document. Readers differ in which of two of one name counts, so that a document
/// with both says one thing to one of them and something else to another (RFC 8259 §4).
struct KeySet {
  private var few: [String] = []
  private var many: Set<String> = []

  /// Adds a key; answers whether it is new.
  mutating func insert(_ key: String) -> Bool {
    // A table of its own would be most of the work for the small objects that most are.
    if many.isEmpty {
      guard !few.contains(key) else { return false }
      if few.isEmpty { few.reserveCapacity(8) }
      few.append(key)
      if few.count > 16 { many = Set(few) }
      return true
    }
    return many.insert(key).inserted
  }
}
