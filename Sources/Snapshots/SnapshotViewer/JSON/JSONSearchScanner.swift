/// Finds the places in the bytes of a document at which a text to find can be, without reading the document as JSON.
struct JSONSearchScanner {
  private static let pieceSize = 128 << 10

  private let bytes: ViewedBytes
  private let scanner: LiteralScanner
  private var piece: [UInt8] = []
  /// The offset of `piece`, and the place that was found last.
  private var start = 0
  private var found: Int?

  /// Creates a scanner; `nil` if no bytes of `text` are the same in all documents that contain it.
  init?(_ text: String, in bytes: ViewedBytes) {
    guard let scanner = LiteralScanner(text) else { return nil }
    (self.bytes, self.scanner) = (bytes, scanner)
  }

  /// The first place at or after `offset`, or `nil` if there is none. Offsets must not decrease.
  mutating func next(from offset: Int) throws(ViewerError) -> Int? {
    if let found, found >= offset { return found }
    var offset = offset
    while offset < bytes.size {
      if offset < start || offset + scanner.overlap + 1 > start + piece.count {
        piece = try bytes.read(upTo: Self.pieceSize, at: offset)
        start = offset
      }
      if let index = scanner.candidate(in: piece, from: offset - start) {
        found = start + index
        return found
      }
      // A place can begin in this piece and end in the next one.
      let next = start + piece.count - scanner.overlap
      guard next > offset, start + piece.count < bytes.size else { return nil }
      offset = next
    }
    return nil
  }
}
