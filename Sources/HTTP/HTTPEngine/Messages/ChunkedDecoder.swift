/// Takes the chunked coding off a body (RFC 9112 §7.1), read strictly.
///
/// A value without I/O: give it bytes as they come. Chunk extensions are skipped and trailer fields kept apart, never
/// merged into the head; both count against one limit.
struct ChunkedDecoder: Hashable {
  /// The coding is broken, or its overhead is past the limit.
  struct Malformed: Error {}

  private enum State: Hashable {
    case sizeStart, size, extensions, sizeLineFeed
    case data, dataReturn, dataLineFeed
    case lineStart, trailerName, trailerValue, trailerLineFeed, lastLineFeed
    case done
  }

  private var state = State.sizeStart
  /// How much of the chunk is still to come.
  private(set) var remaining: Int64 = 0
  private var extensions = ChunkExtensions()
  private var sizeDigits = 0
  private var overhead = 0
  /// The trailer section's lines as they came, each with its end.
  private(set) var trailerLines: [UInt8] = []
  private let overheadLimit: Int

  /// - Parameter overheadLimit: the most bytes of extensions and trailer fields.
  init(overheadLimit: Int) { self.overheadLimit = overheadLimit }

  /// Whether the last chunk and the trailer section have been read.
  var isComplete: Bool { state == .done }

  /// Decodes from `input` into `output`, which may be the same memory or begin before it there.
  ///
  /// Stops at the end of the body, of the input, or of the room in `output`.
  /// - Returns: how many bytes of `input` were read, and how many bytes of data were written.
  mutating func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Malformed) -> (consumed: Int, produced: Int) {
    var index = 0
    var produced = 0
    while index < input.count, state != .done {
      if state == .data {
        let count = Int(min(remaining, Int64(min(input.count - index, output.count - produced))))
        if count == 0 { break }
        if let target = output.baseAddress, let source = input.baseAddress,
          target + produced != source + index
        {
          (target + produced).copyMemory(from: source + index, byteCount: count)
        }
        index += count
        produced += count
        remaining -= Int64(count)
        if remaining == 0 { state = .dataReturn }
      } else {
        try step(input[index])
        index += 1
      }
    }
    return (index, produced)
  }

  private mutating func step(_ byte: UInt8) throws(Malformed) {
    switch state {
    case .sizeStart:
      remaining = 0
      sizeDigits = 0
      try readDigit(byte)
      state = .size
    case .size:
      switch byte {
      case .carriageReturn: state = .sizeLineFeed
      case UInt8(ascii: ";"):
        try countOverhead()
        extensions = ChunkExtensions()
        state = .extensions
      default: try readDigit(byte)
      }
    case .extensions:
      if byte == .carriageReturn, extensions.mayEnd {
        state = .sizeLineFeed
      } else {
        try countOverhead()
        guard extensions.read(byte) else { throw Malformed() }
      }
    case .sizeLineFeed:
      try expect(.lineFeed, byte)
      state = remaining == 0 ? .lineStart : .data
    case .dataReturn:
      try expect(.carriageReturn, byte)
      state = .dataLineFeed
    case .dataLineFeed:
      try expect(.lineFeed, byte)
      state = .sizeStart
    case .lineStart:
      if byte == .carriageReturn {
        state = .lastLineFeed
      } else {
        try countOverhead()
        guard CharacterClass.token.contains(byte) else { throw Malformed() }
        trailerLines.append(byte)
        state = .trailerName
      }
    case .trailerName:
      try countOverhead()
      trailerLines.append(byte)
      if byte == .colon {
        state = .trailerValue
      } else if !CharacterClass.token.contains(byte) {
        throw Malformed()
      }
    case .trailerValue:
      try countOverhead()
      trailerLines.append(byte)
      if byte == .carriageReturn {
        state = .trailerLineFeed
      } else if !isFieldValueByte(byte) {
        throw Malformed()
      }
    case .trailerLineFeed:
      try expect(.lineFeed, byte)
      trailerLines.append(byte)
      state = .lineStart
    case .lastLineFeed:
      try expect(.lineFeed, byte)
      state = .done
    case .data, .done:
      break
    }
  }

  private mutating func readDigit(_ byte: UInt8) throws(Malformed) {
    let value: UInt8
    switch byte {
    case 0x30...0x39: value = byte - 0x30
    case 0x41...0x46: value = byte - 0x41 + 10
    case 0x61...0x66: value = byte - 0x61 + 10
    default: throw Malformed()
    }
    // Sixteen digits are all that a 64-bit size has, with or without zeros in front.
    sizeDigits += 1
    guard sizeDigits <= 16, remaining <= Int64.max >> 4 else { throw Malformed() }
    remaining = remaining << 4 | Int64(value)
  }

  private mutating func countOverhead() throws(Malformed) {
    overhead += 1
    guard overhead <= overheadLimit else { throw Malformed() }
  }

  private func expect(_ expected: UInt8, _ byte: UInt8) throws(Malformed) {
    guard byte == expected else { throw Malformed() }
  }
}
