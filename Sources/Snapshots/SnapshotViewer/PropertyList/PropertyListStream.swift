/// Reads a file from its beginning to its end.
struct PropertyListStream {
  private static let pieceSize = 64 << 10

  /// The bytes that were read last.
  private(set) var piece: [UInt8] = []
  /// The index in ``piece`` of the next byte.
  private(set) var position = 0

  private let size: Int
  private let read: PropertyListRead
  /// The offset of ``piece`` in the file.
  private var base = 0

  init(size: Int, _ read: @escaping PropertyListRead) { (self.size, self.read) = (size, read) }

  /// The offset of the next byte.
  var offset: Int { base + position }

  /// Makes sure that ``piece`` contains the next `count` bytes. Returns `false` if the file has fewer.
  mutating func has(_ count: Int) throws(PropertyListError) -> Bool {
    if position + count <= piece.count { return true }
    while piece.count - position < count {
      let next = base + piece.count
      guard next < size else { return false }
      let more: [UInt8]
      do { more = try read(min(Self.pieceSize, size - next), next) } catch { throw .viewer(error) }
      guard !more.isEmpty else { throw .viewer(.changed) }
      base += position
      piece = position == piece.count ? more : piece[position...] + more
      position = 0
    }
    return true
  }

  /// The next byte, which remains the next one; `nil` at the end.
  mutating func peek() throws(PropertyListError) -> UInt8? { try has(1) ? piece[position] : nil }

  /// Passes over bytes that ``piece`` contains.
  mutating func skip(_ count: Int) { position += count }

  /// Passes over `text`, if the next bytes are equal to it.
  mutating func take(_ text: StaticString) throws(PropertyListError) -> Bool {
    let count = text.utf8CodeUnitCount
    guard try has(count) else { return false }
    for index in 0..<count where unsafe piece[position + index] != text.utf8Start[index] { return false }
    position += count
    return true
  }

  /// Passes over everything up to the end of the next `text`. Returns `false` if there is none.
  mutating func skip(past text: StaticString) throws(PropertyListError) -> Bool {
    let first = unsafe text.utf8Start[0]
    while try has(1) {
      guard let index = piece[position...].firstIndex(of: first) else {
        position = piece.count
        continue
      }
      position = index
      if try take(text) { return true }
      position += 1
    }
    return false
  }

  /// Passes over white space.
  mutating func skipSpace() throws(PropertyListError) {
    while let byte = try peek(), XMLPropertyList.isSpace(byte) { position += 1 }
  }
}
