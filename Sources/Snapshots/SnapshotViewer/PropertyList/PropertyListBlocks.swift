/// Reads any place of a file in blocks, the last of which are kept.
struct PropertyListBlocks {
  private static let blockSize = 16 << 10
  private static let count = 128

  /// The number of bytes of the file.
  let size: Int

  private let read: PropertyListRead
  /// The kept blocks, each at the remainder of its number, and their numbers.
  private var blocks = [[UInt8]](repeating: [], count: Self.count)
  private var numbers = [Int](repeating: -1, count: Self.count)

  init(size: Int, _ read: @escaping PropertyListRead) { (self.size, self.read) = (size, read) }

  /// The byte at `offset`, which is less than ``size``.
  mutating func byte(at offset: Int) throws(PropertyListError) -> UInt8 {
    let slot = try slot(of: offset)
    let index = offset % Self.blockSize
    guard index < blocks[slot].count else { throw .viewer(.changed) }
    return blocks[slot][index]
  }

  /// The big-endian integer in `count` bytes at `offset`, at most 8. The range is inside the file.
  mutating func integer(at offset: Int, count: Int) throws(PropertyListError) -> UInt64 {
    var value: UInt64 = 0
    let index = offset % Self.blockSize
    let slot = try slot(of: offset)
    if index + count <= blocks[slot].count {
      for place in index..<index + count { value = value << 8 | UInt64(blocks[slot][place]) }
    } else {
      for place in offset..<offset + count { value = value << 8 | UInt64(try byte(at: place)) }
    }
    return value
  }

  /// Bytes of the file.
  mutating func bytes(_ range: Range<Int>) throws(PropertyListError) -> ArraySlice<UInt8> {
    let index = range.lowerBound % Self.blockSize
    if !range.isEmpty, index + range.count <= Self.blockSize {
      let slot = try slot(of: range.lowerBound)
      guard index + range.count <= blocks[slot].count else { throw .viewer(.changed) }
      return blocks[slot][index..<index + range.count]
    }
    do {
      let bytes = try read(range.count, range.lowerBound)
      guard bytes.count == range.count else { throw ViewerError.changed }
      return bytes[...]
    } catch let error as ViewerError {
      throw .viewer(error)
    } catch {
      throw .viewer(.changed)
    }
  }

  private mutating func slot(of offset: Int) throws(PropertyListError) -> Int {
    let number = offset / Self.blockSize
    let slot = number % Self.count
    if numbers[slot] != number {
      let start = number * Self.blockSize
      do { blocks[slot] = try read(min(Self.blockSize, size - start), start) } catch { throw .viewer(error) }
      numbers[slot] = number
    }
    return slot
  }
}
