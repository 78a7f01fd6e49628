import Foundation
import SnapshotSealing
import Testing
import TestSupport

@Suite struct PayloadTests {
  private static let chunk = 65_536

  /// Contents of which no two chunks are equal.
  private static func contents(_ count: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: UInt64(count))
    return (0..<(count + 7) / 8).flatMap { _ in
      let word = generator.next()
      return (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }.prefix(count).map { $0 }
  }

  private static func reader(_ file: [UInt8]) throws -> SealedReader {
    try SealedReader(sealedSize: Int64(file.count), with: [try SealingIdentity(HandmadeFile.identity)]) {
      Array(file.dropFirst(Int($0)).prefix($1))
    }
  }

  @Test(arguments: [0, 1, 100, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 5])
  func `contents of any size come out as they went in`(count: Int) throws {
    let identity = try SealingIdentity(HandmadeFile.identity)
    let contents = Self.contents(count)
    for size in [1_000, Self.chunk, Self.chunk + 16, 1 << 20] {
      let file = try sealed(contents, to: [identity.recipient], piecesOf: size)
      let header = try #require(try SealedHeader.parse(file))
      #expect(file.count == header.size + Int(Sealer.payloadSize(ofContents: Int64(count))))
      #expect(Opening(file, with: [identity], piecesOf: size) == Opening(contents: contents))
      #expect(try Self.reader(file).read(at: 0, count: .max) == contents)
    }
  }

  @Test func `any range can be read without the rest`() throws {
    let contents = Self.contents(3 * Self.chunk + 5)
    let file = try HandmadeFile(contents: Data(contents)).bytes()
    let reader = try Self.reader(file)
    #expect(reader.size == Int64(contents.count))
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<200 {
      let start = Int.random(in: 0..<contents.count, using: &generator)
      let count = Int.random(in: 0...Self.chunk + 9, using: &generator)
      #expect(
        try reader.read(at: Int64(start), count: count) == Array(contents.dropFirst(start).prefix(count)))
    }
    #expect(try reader.read(at: reader.size, count: 1).isEmpty)
    #expect(try reader.read(at: -1, count: 1).isEmpty)
    #expect(try reader.read(at: .max, count: .max).isEmpty)
  }

  @Test func `reading a place reads only its chunk`() throws {
    let file = try HandmadeFile(contents: Data(Self.contents(40 * Self.chunk))).bytes()
    let total = Counter()
    let reader = try SealedReader(
      sealedSize: Int64(file.count), with: [try SealingIdentity(HandmadeFile.identity)]
    ) {
      total.add($1)
      return Array(file.dropFirst(Int($0)).prefix($1))
    }
    #expect(total.count < 80_000)
    for offset in 0..<100 { _ = try reader.read(at: Int64(20 * Self.chunk + offset), count: 10) }
    #expect(total.count < 160_000)
  }

  @Test func `what is given out before an error is authentic, and the error says what happened`() throws {
    let contents = Self.contents(3 * Self.chunk)
    func opening(_ change: (inout HandmadeFile) -> Void) throws -> Opening {
      var file = HandmadeFile(contents: Data(contents))
      change(&file)
      let opening = try Opening(file, piecesOf: 10_000)
      #expect(contents.starts(with: opening.contents))
      // In one piece, the same comes out.
      #expect(try Opening(file, piecesOf: .max) == opening)
      if opening.error != nil {
        #expect(throws: SealingError.self) {
          let reader = try Self.reader(try file.bytes())
          _ = try reader.read(at: 0, count: .max)
        }
      }
      return opening
    }
    func check(_ opening: Opening, _ error: SealingError, chunks: Int) {
      #expect(opening.error == error)
      #expect(opening.contents.count == chunks * Self.chunk)
    }
    check(try opening { $0.chunks.removeLast() }, .truncated, chunks: 2)
    check(try opening { $0.chunks.removeAll() }, .truncated, chunks: 0)
    check(try opening { $0.chunks[2].isLast = false }, .truncated, chunks: 3)
    check(try opening { $0.chunks.swapAt(0, 1) }, .chunksReordered(at: 0, found: 1), chunks: 0)
    check(try opening { $0.chunks.remove(at: 1) }, .chunksReordered(at: 1, found: 2), chunks: 1)
    check(try opening { $0.chunks[1].counter = 9 }, .chunksReordered(at: 1, found: 9), chunks: 1)
    check(try opening { $0.chunks[1].counter = 900 }, .chunkDamaged(1), chunks: 1)
    check(try opening { $0.chunks[2].counter = 900 }, .lastChunkDamaged(2), chunks: 2)
    check(try opening { $0.trailing = Data([0]) }, .trailingBytes, chunks: 3)
    check(try opening { $0.trailing = Data(repeating: 0, count: 100_000) }, .trailingBytes, chunks: 3)
    check(try opening { $0.chunks[1].isLast = true }, .trailingBytes, chunks: 2)
    check(
      try opening {
        $0.chunks[2].isLast = false
        $0.chunks.append((Data(), 3, true))
      }, .lastChunkDamaged(3), chunks: 3)
  }

  @Test func `a file that ends anywhere is incomplete`() throws {
    let identity = try SealingIdentity(HandmadeFile.identity)
    let file = try HandmadeFile(contents: Data(Self.contents(Self.chunk + 100))).bytes()
    for end in stride(from: 0, to: file.count, by: 997) {
      let opening = Opening(Array(file[..<end]), with: [identity])
      switch opening.error {
      case .truncated, .lastChunkDamaged: break
      default: Issue.record("cut at \(end): \(opening.error.map(String.init(describing:)) ?? "complete")")
      }
    }
  }

  @Test func `no flipped bit goes unseen`() throws {
    let identity = try SealingIdentity(HandmadeFile.identity)
    let file = try HandmadeFile().bytes()
    for index in file.indices {
      var flipped = file
      flipped[index] ^= 1
      let opening = Opening(flipped, with: [identity])
      #expect(opening.error != nil && opening.contents.isEmpty, "byte \(index)")
    }
  }

  @Test func `after an error nothing more comes out`() throws {
    var unsealer = Unsealer(with: [try SealingIdentity(HandmadeFile.identity)])
    #expect(throws: SealingError.self) { try unsealer.open(Array("PK".utf8)) }
    #expect(throws: SealingError.self) { try unsealer.open(try HandmadeFile().bytes()) }
    #expect(throws: SealingError.self) { try unsealer.finish() }
  }
}
