import Testing
import ZipArchive

@Suite struct HashTableTests {
  @Test func `the table contains each hash with its last mark, and no others`() {
    var table = HashTable()
    #expect(table.mark(of: 0) == nil)
    let hashes = (0..<100_000).map(\.hashValue)
    var fresh = 0
    for (index, hash) in hashes.enumerated() { fresh += table.mark(hash, as: UInt8(index % 4)) ? 1 : 0 }
    #expect(fresh == hashes.count)
    #expect(table.count == hashes.count)
    #expect(!hashes.indices.contains { table.mark(of: hashes[$0]) != UInt8($0 % 4) })
    #expect(!(100_000..<200_000).contains { table.mark(of: $0.hashValue) != nil })
    for hash in hashes { fresh += table.mark(hash, as: 2) ? 1 : 0 }
    #expect(fresh == hashes.count)
    #expect(table.count == hashes.count)
    #expect(!hashes.contains { table.mark(of: $0) != 2 })
  }

  @Test func `hashes with the same initial slot are distinguished`() {
    var table = HashTable()
    let hashes = [0, 1 << 40, 1 << 50, 1 << 60, .min, .min | 1 << 40]
    for hash in hashes { table.mark(hash) }
    #expect(table.count == hashes.count)
    #expect(hashes.allSatisfy { table.mark(of: $0) == 0 })
    #expect(table.mark(of: 1 << 41) == nil)
  }
}
