import SystemIO

/// The contents of a file as text in UTF-8, without NUL bytes at its end. Text in another encoding is converted once, to a
/// file without a name.
package struct ViewedText: Sendable {
  /// The outcome of reading a file as text.
  package enum Outcome: Sendable {
    case text(ViewedText)
    /// The text is in this encoding, but the bytes from this offset on are no character.
    case invalid(TextEncoding, offset: Int)
    /// The text is in this encoding, and has more bytes than the limit.
    case tooLarge(TextEncoding)
  }

  /// The text in UTF-8. If the file is none, these are its bytes.
  package let bytes: ViewedBytes
  /// The encoding of the file, if it was converted.
  package let encoding: TextEncoding?
  /// The range of the NUL bytes at the end of the file; empty if there are none.
  package let padding: Range<Int>
  /// The offset of the text in the file.
  private let start: Int

  /// The maximum number of NUL bytes that are read to find the end of the text.
  private static let paddingLimit = 64 << 20
  private static let pieceSize = 128 << 10

  /// Reads a file as text. Blocks for the disk.
  /// - Parameter space: the space for a converted text.
  package static func of(
    _ file: ViewedBytes, in space: CopySpace, limit: Int = TextView.Limits().size
  ) throws(ViewerError) -> Outcome {
    var end = try endWithoutPadding(of: file)
    // The last bytes of a character can be NUL.
    let head = try file.read(upTo: min(pieceSize, end + 3), at: 0)
    guard let encoding = TextEncoding.of(head, length: min(end, pieceSize)) else {
      return .text(
        ViewedText(bytes: file.prefix(end), encoding: nil, padding: end..<file.size, start: 0))
    }
    let start = head.starts(with: encoding.mark) ? encoding.mark.count : 0
    end = min(file.size, encoding.whole(end))
    guard end <= limit else { return .tooLarge(encoding) }
    return try convert(file, start..<max(start, end), encoding, in: space)
  }

  private static func endWithoutPadding(of file: ViewedBytes) throws(ViewerError) -> Int {
    var end = file.size
    while end > 0, file.size - end < paddingLimit {
      let start = max(0, end - pieceSize)
      let piece = try file.read(upTo: end - start, at: start)
      guard let last = piece.lastIndex(where: { $0 != 0 }) else {
        end = start
        continue
      }
      return start + last + 1
    }
    // There is no text, or too much of the file is NUL.
    return file.size
  }

  private static func convert(
    _ file: ViewedBytes, _ range: Range<Int>, _ encoding: TextEncoding, in space: CopySpace
  ) throws(ViewerError) -> Outcome {
    let copy = try space.makeCopy()
    var (offset, written) = (range.lowerBound, 0)
    while offset < range.upperBound {
      let piece = try file.read(upTo: min(pieceSize, range.upperBound - offset), at: offset)
      var text: [UInt8] = []
      let (count, isInvalid) = encoding.decode(piece, into: &text)
      // A character that is not complete here is incomplete at the end of the file.
      guard !isInvalid, count > 0 else { return .invalid(encoding, offset: offset + count) }
      try copy.write(text, at: written)
      (offset, written) = (offset + count, written + text.count)
    }
    return .text(
      ViewedText(
        bytes: ViewedBytes(copy, size: written), encoding: encoding, padding: range.upperBound..<file.size,
        start: range.lowerBound))
  }

  /// The offset in the file of the character at `offset` in ``bytes``.
  package func offset(ofByte offset: Int) throws(ViewerError) -> Int {
    guard let encoding else { return offset }
    var (place, position) = (start, 0)
    while position < offset {
      let piece = try bytes.read(upTo: min(Self.pieceSize, offset - position), at: position)
      guard !piece.isEmpty else { break }
      for byte in piece where byte & 0xC0 != 0x80 {
        // Four bytes in UTF-8 are two units in UTF-16.
        place += byte >= 0xF0 ? 4 : encoding.unit
      }
      position += piece.count
    }
    return place
  }
}
