@testable import HTTPEngine

extension FuzzedParser {
  private struct Decoded: Equatable {
    var data: [UInt8] = []
    var consumed = 0
    var isComplete = false
    /// The number of bytes of the last chunk that are still missing.
    var remaining: Int64 = 0
  }

  private static let overheadLimit = 64

  /// A body decodes to the same bytes for every split of the input and every size of the output buffer. The result
  /// equals that of a simple reader that parses the body line by line.
  func checkChunkedBody(_ input: [UInt8]) throws {
    let whole = decode(input, .whole, room: input.count)
    for splits in [Splits.bytes, .pieces] {
      for room in [input.count, 3] {
        let decoded = decode(input, splits, room: room)
        try require(decoded == whole, "\(decoded as Any) in \(splits), \(whole as Any) as a whole")
      }
    }
    try checkReader(input, whole)
    guard let whole else { return }
    try require(
      whole.consumed <= input.count && whole.data.count <= whole.consumed,
      "the output is longer than the input")
    guard whole.isComplete else { return }
    let read = Self.readLineByLine(input)
    try require(read?.data == whole.data, "read line by line: \(read as Any)")
    try require(read?.consumed == whole.consumed, "the end is at another position: \(read as Any)")
    let alone = decode(Array(input[..<whole.consumed]), .whole, room: whole.consumed)
    try require(alone == whole, "bytes after the body change it")
  }

  /// Decodes the body; `nil` if the coding is malformed.
  private func decode(_ input: [UInt8], _ splits: Splits, room: Int) -> Decoded? {
    var decoder = ChunkedDecoder(overheadLimit: Self.overheadLimit)
    var decoded = Decoded()
    var output = [UInt8](repeating: 0, count: room)
    for var piece in splits.pieces(of: input).map(Array.init) {
      while !piece.isEmpty, !decoder.isComplete {
        let step: (consumed: Int, produced: Int)?
        if room < input.count {
          step = try? piece.withUnsafeBytes { piece in
            try output.withUnsafeMutableBytes { try decoder.decode(piece, into: $0) }
          }
          guard let step else { return nil }
          decoded.data += output[..<step.produced]
        } else {
          // Input and output use the same memory, as in a connection.
          step = try? piece.withUnsafeMutableBytes {
            try decoder.decode(UnsafeRawBufferPointer($0), into: $0)
          }
          guard let step else { return nil }
          decoded.data += piece[..<step.produced]
        }
        guard let step, step.consumed > 0 else { break }
        decoded.consumed += step.consumed
        piece.removeFirst(step.consumed)
      }
    }
    (decoded.isComplete, decoded.remaining) = (decoder.isComplete, decoder.remaining)
    return decoded
  }

  /// The reader around the decoder enforces the limit of the body exactly.
  private func checkReader(_ input: [UInt8], _ whole: Decoded?) throws {
    var limits = HTTPLimits()
    (limits.bodyBytes, limits.chunkOverheadBytes) = (16, Self.overheadLimit)
    for splits in Splits.allCases {
      var reader = BodyReader(.chunked, limits: limits)
      var failure: HTTPBodyError?
      for piece in splits.pieces(of: input).map(Array.init) where failure == nil && !reader.isComplete {
        var output = [UInt8](repeating: 0, count: piece.count)
        do {
          _ = try piece.withUnsafeBytes { piece in
            try output.withUnsafeMutableBytes { try reader.read(piece, into: $0) }
          }
        } catch let error as HTTPBodyError {
          failure = error
        }
      }
      if let whole {
        let isTooLarge = whole.remaining > limits.bodyBytes - Int64(whole.data.count)
        let expected: HTTPBodyError? = isTooLarge ? .tooLarge(limit: limits.bodyBytes) : nil
        try require(failure == expected, "\(failure as Any) for \(whole.data.count) bytes in \(splits)")
      } else {
        try require(failure != nil, "a malformed coding is accepted in \(splits)")
      }
    }
  }

  /// Decodes a complete body in the simplest way: a line with a length, that number of bytes, a line break, and so on.
  private static func readLineByLine(_ input: [UInt8]) -> (data: [UInt8], consumed: Int)? {
    var rest = input[...]
    func line() -> [UInt8]? {
      guard let end = rest.firstIndex(of: 0x0D), rest.dropFirst(end - rest.startIndex + 1).first == 0x0A
      else {
        return nil
      }
      defer { rest = rest[(end + 2)...] }
      return Array(rest[..<end])
    }
    var data: [UInt8] = []
    while let head = line() {
      let digits = String(decoding: head.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self)
      guard let first = digits.utf8.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-"),
        let size = Int(digits, radix: 16)
      else { return nil }
      if size == 0 {
        while let trailer = line() {
          if trailer.isEmpty { return (data, rest.startIndex) }
        }
        return nil
      }
      guard rest.count >= size else { return nil }
      data += rest.prefix(size)
      rest = rest.dropFirst(size)
      guard line() == [] else { return nil }
    }
    return nil
  }
}
