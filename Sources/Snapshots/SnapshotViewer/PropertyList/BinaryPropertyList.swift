import JSONText

/// Reads a binary property list (`bplist00`) from its top object on, and writes it as JSON.
///
/// The file is untrusted. Every object is read at its own place, and nothing is kept of it: the memory used depends on
/// the nesting only. Objects that are referred to several times are written as often, up to the writer's limits.
struct BinaryPropertyList {
  static let header = Array("bplist00".utf8)
  private static let trailerSize = 32
  /// The number of bytes of a text or of data that are read at once: whole units of UTF-16 and of base64.
  private static let pieceSize = 12 << 10
  /// The seconds from 1970 to 2001, with which dates begin.
  private static let epoch = 978_307_200.0

  /// A container that is being written.
  private struct Level {
    let object: Int
    let isObject: Bool
    /// The place of the references to its keys, or to its elements.
    let references: Int
    let count: Int
    var index = 0
  }

  /// The beginning of an object.
  private struct Head {
    let type: UInt8
    /// The low half of the first byte, or the count that follows it.
    let count: Int
    /// The place of the contents.
    let start: Int
    let offset: Int
  }

  private var blocks: PropertyListBlocks
  private var writer: PropertyListWriter
  private var levels: [Level] = []
  private let offsetSize: Int
  private let referenceSize: Int
  private let count: Int
  private let top: Int
  private let table: Int

  init(_ blocks: PropertyListBlocks, _ writer: PropertyListWriter) throws(PropertyListError) {
    var blocks = blocks
    let trailer = blocks.size - Self.trailerSize
    guard trailer > Self.header.count else { throw Self.failure(.incomplete, at: blocks.size) }
    offsetSize = Int(try blocks.byte(at: trailer + 6))
    referenceSize = Int(try blocks.byte(at: trailer + 7))
    let values = (
      try blocks.integer(at: trailer + 8, count: 8), try blocks.integer(at: trailer + 16, count: 8),
      try blocks.integer(at: trailer + 24, count: 8)
    )
    guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
      values.0 <= UInt64(trailer), values.1 < values.0, values.2 <= UInt64(trailer),
      values.2 > UInt64(Self.header.count)
    else { throw Self.failure(.trailer, at: trailer) }
    (count, top, table) = (Int(values.0), Int(values.1), Int(values.2))
    guard count <= (trailer - table) / offsetSize else { throw Self.failure(.trailer, at: trailer) }
    (self.blocks, self.writer) = (blocks, writer)
  }

  /// Writes the property list.
  /// - Returns: The writer.
  mutating func run() throws(PropertyListError) -> PropertyListWriter {
    try write(top, from: blocks.size - Self.trailerSize)
    while let level = levels.last {
      guard level.index < level.count else {
        try writer.end()
        levels.removeLast()
        continue
      }
      levels[levels.count - 1].index += 1
      var place = level.references + level.index * referenceSize
      if level.isObject {
        try writeKey(try reference(at: place), from: place)
        place += level.count * referenceSize
      }
      try write(try reference(at: place), from: place)
    }
    return writer
  }

  private mutating func reference(at place: Int) throws(PropertyListError) -> Int {
    let object = try blocks.integer(at: place, count: referenceSize)
    guard object < UInt64(count) else { throw Self.failure(.reference, at: place) }
    return Int(object)
  }

  /// Reads the beginning of an object.
  /// - Parameter place: the place of the reference to it.
  private mutating func head(of object: Int, from place: Int) throws(PropertyListError) -> Head {
    let value = try blocks.integer(at: table + object * offsetSize, count: offsetSize)
    guard value >= UInt64(Self.header.count), value < UInt64(table) else {
      throw Self.failure(.reference, at: place)
    }
    let offset = Int(value)
    let marker = try blocks.byte(at: offset)
    let (type, low) = (marker >> 4, Int(marker & 0xF))
    guard type >= 4, type != 8, low == 0xF else {
      return Head(type: type, count: low, start: offset + 1, offset: offset)
    }
    // The count is an integer object.
    guard offset + 1 < table else { throw Self.failure(.incomplete, at: offset) }
    let countMarker = try blocks.byte(at: offset + 1)
    guard countMarker >> 4 == 1, countMarker & 0xF <= 3 else { throw Self.failure(.type, at: offset + 1) }
    let length = 1 << Int(countMarker & 0xF)
    guard offset + 2 + length <= table else { throw Self.failure(.incomplete, at: offset) }
    let count = try blocks.integer(at: offset + 2, count: length)
    guard count <= UInt64(table) else { throw Self.failure(.incomplete, at: offset) }
    return Head(type: type, count: Int(count), start: offset + 2 + length, offset: offset)
  }

  private func require(_ length: Int, _ head: Head) throws(PropertyListError) {
    guard length <= table - head.start else { throw Self.failure(.incomplete, at: head.offset) }
  }

  private mutating func writeKey(_ object: Int, from place: Int) throws(PropertyListError) {
    let head = try head(of: object, from: place)
    guard head.type == 5 || head.type == 6 else { throw Self.failure(.type, at: head.offset) }
    try writer.beginKey()
    try writeText(head)
    try writer.endKey()
  }

  private mutating func write(_ object: Int, from place: Int) throws(PropertyListError) {
    let head = try head(of: object, from: place)
    switch head.type {
    case 0: try writeWord(head)
    case 1: try writeInteger(head)
    case 2: try writeReal(head)
    case 3: try writeDate(head)
    case 4: try writeData(head)
    case 5, 6:
      try writer.beginString()
      try writeText(head)
      try writer.endString()
    case 8:
      try require(head.count + 1, head)
      guard head.count < 8 else { throw Self.failure(.number, at: head.offset) }
      try writer.add(uid: try blocks.integer(at: head.start, count: head.count + 1))
    case 0xA, 0xB, 0xC, 0xD: try begin(object, head)
    default: throw Self.failure(.type, at: head.offset)
    }
  }

  private mutating func begin(_ object: Int, _ head: Head) throws(PropertyListError) {
    let isObject = head.type == 0xD
    try require(head.count * referenceSize * (isObject ? 2 : 1), head)
    guard !levels.contains(where: { $0.object == object }) else {
      throw Self.failure(.cycle, at: head.offset)
    }
    try writer.begin(isObject: isObject, head.type == 0xB || head.type == 0xC ? .set : nil)
    levels.append(Level(object: object, isObject: isObject, references: head.start, count: head.count))
  }

  private mutating func writeWord(_ head: Head) throws(PropertyListError) {
    switch head.count {
    case 0: try writer.add("null")
    case 8: try writer.add("false")
    case 9: try writer.add("true")
    default: throw Self.failure(.type, at: head.offset)
    }
  }

  /// Integers of up to 4 bytes have no sign; those of 8 and 16 bytes have one.
  private mutating func writeInteger(_ head: Head) throws(PropertyListError) {
    guard head.count <= 4 else { throw Self.failure(.number, at: head.offset) }
    try require(1 << head.count, head)
    if head.count < 4 {
      let value = try blocks.integer(at: head.start, count: 1 << head.count)
      try writer.add(head.count == 3 ? "\(Int64(bitPattern: value))" : "\(value)")
    } else {
      let high = Int64(bitPattern: try blocks.integer(at: head.start, count: 8))
      let low = try blocks.integer(at: head.start + 8, count: 8)
      try writer.add("\(Int128(high) << 64 | Int128(low))")
    }
  }

  private mutating func writeReal(_ head: Head) throws(PropertyListError) {
    guard head.count == 2 || head.count == 3 else { throw Self.failure(.number, at: head.offset) }
    try require(1 << head.count, head)
    let bits = try blocks.integer(at: head.start, count: 1 << head.count)
    if head.count == 2 {
      let value = Float(bitPattern: UInt32(bits))
      try writer.add(real: Double(value), "\(value)")
    } else {
      let value = Double(bitPattern: bits)
      try writer.add(real: value, "\(value)")
    }
  }

  private mutating func writeDate(_ head: Head) throws(PropertyListError) {
    guard head.count == 3 else { throw Self.failure(.date, at: head.offset) }
    try require(8, head)
    let seconds = Double(bitPattern: try blocks.integer(at: head.start, count: 8))
    try writer.add(string: PropertyListDate.text(secondsSince1970: seconds + Self.epoch), .date)
  }

  private mutating func writeData(_ head: Head) throws(PropertyListError) {
    try require(head.count, head)
    try writer.beginString(.data)
    var place = head.start
    let end = head.start + head.count
    while place < end {
      let next = min(place + Self.pieceSize, end)
      try writer.append(plain: Base64.encode(try blocks.bytes(place..<next)))
      place = next
    }
    try writer.endString()
  }

  /// Writes the contents of a string: ASCII, or UTF-16 with a count of its units.
  private mutating func writeText(_ head: Head) throws(PropertyListError) {
    let length = head.count * (head.type == 6 ? 2 : 1)
    try require(length, head)
    var place = head.start
    let end = head.start + length
    while place < end {
      let next = min(place + Self.pieceSize, end)
      let bytes = try blocks.bytes(place..<next)
      if head.type == 6 {
        for index in stride(from: bytes.startIndex, to: bytes.endIndex, by: 2) {
          try writer.append(unit: UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1]))
        }
      } else {
        guard bytes.allSatisfy({ $0 < 0x80 }) else { throw Self.failure(.text, at: head.offset) }
        try writer.append(bytes)
      }
      place = next
    }
  }

  private static func failure(
    _ reason: PropertyListFailure.Reason, at offset: Int
  ) -> PropertyListError {
    .malformed(PropertyListFailure(reason, offset: offset))
  }
}
