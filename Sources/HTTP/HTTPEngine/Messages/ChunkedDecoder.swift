/// Decodes the chunked coding of a body (RFC 9112 §7.1) with strict parsing.
///
/// Performs no I/O: the caller passes the bytes as they arrive. Chunk extensions are skipped. Trailer fields are kept
/// separately and never merged into the head. Both count towards one limit.
struct ChunkedDecoder: Hashable {
  /// The coding is malformed, or its overhead exceeds the limit.
  struct Malformed: Error {}

  private enum State: Hashable {
    case sizeStart, size, extensions, sizeLineFeed
    case data, dataReturn, dataLineFeed
    case lineStart, trailerName, trailerValue, trailerLineFeed, lastLineFeed
    case done
  }

  private var state = State.sizeStart
  /// The number of remaining bytes of the current chunk.
  private(set) var remaining: Int64 = 0
  private var extensions = ChunkExtensions()
  private var sizeDigits = 0
  private var overhead = 0
  /// The received lines of the trailer section, each with its line end.
  private(set) var trailerLines: [UInt8] = []
  private let overheadLimit: Int

  /// - Parameter overheadLimit: the maximum size of extensions and trailer fields, in bytes.
  init(overheadLimit: Int) { self.overheadLimit = overheadLimit }

  /// Whether the last chunk and the trailer section were read.
  var isComplete: Bool { state == .done }

  /// Decodes `input` into `output`. `output` can be the same memory, or start before `input` in it. Stops at the end of
  /// the body, of the input, or of the space in `output`.
  ///
  /// - Returns: the number of bytes consumed from `input`, and the number of data bytes written to `output`.
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
    // A 64-bit size has at most 16 digits. Leading zeros count, too.
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

/// Validates chunk extensions: the text from the first `;` after a chunk's size to the end of the line (RFC 9112
/// §7.1.1). Each has a name and optionally a token or quoted string. The server ignores them, but they must not contain
/// anything that another parser could interpret as a line end.
struct ChunkExtensions: Hashable {
  private enum State: Hashable {
    /// A name must follow.
    case nameStart
    case name, nameEnd
    case valueStart
    case value, quoted, escape, quotedEnd, valueEnd
  }

  private var state = State.nameStart

  /// Whether the line can end here.
  var mayEnd: Bool { state == .name || state == .value || state == .quotedEnd }

  /// Parses the next byte after the first `;`.
  ///
  /// - Returns: `false` if the extensions are malformed.
  mutating func read(_ byte: UInt8) -> Bool {
    let isToken = CharacterClass.token.contains(byte)
    // “Bad” white space, which recipients must parse although senders must not generate it.
    let isBlank = byte == .space || byte == .tab
    let next: State? =
      switch state {
      case .nameStart: isToken ? .name : isBlank ? .nameStart : nil
      case .name where isToken: .name
      case .name, .nameEnd:
        byte == UInt8(ascii: "=")
          ? .valueStart : byte == UInt8(ascii: ";") ? .nameStart : isBlank ? .nameEnd : nil
      case .valueStart: isToken ? .value : byte == UInt8(ascii: "\"") ? .quoted : isBlank ? .valueStart : nil
      case .value where isToken: .value
      case .value, .quotedEnd, .valueEnd: byte == UInt8(ascii: ";") ? .nameStart : isBlank ? .valueEnd : nil
      case .quoted where byte == UInt8(ascii: "\""): .quotedEnd
      case .quoted where byte == UInt8(ascii: "\\"): .escape
      case .quoted, .escape: isFieldValueByte(byte) ? .quoted : nil
      }
    guard let next else { return false }
    state = next
    return true
  }
}
