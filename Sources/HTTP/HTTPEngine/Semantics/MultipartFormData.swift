public import HTTPSemantics
public import SystemIO

/// A form as it arrives, part by part and piece by piece (RFC 7578). Used by one task at a time.
///
/// Throws ``MultipartError`` where the form is malformed, and whatever the body throws.
public struct MultipartFormData {
  private var pieces: HTTPRequestBody.Iterator
  private var parser: MultipartParser
  private var input: IOBuffer?
  private var position = 0
  private var isInPart = false

  /// Reads `body`, whose `Content-Type` is `contentType`; its parameter `boundary` is needed.
  public init(
    _ body: HTTPRequestBody, contentType: MediaType, limits: MultipartParser.Limits = MultipartParser.Limits()
  ) throws(MultipartError) {
    guard let boundary = contentType.parameters["boundary"] else { throw .boundary }
    parser = try MultipartParser(boundary: boundary, limits: limits)
    pieces = body.makeAsyncIterator()
  }

  /// The next part, skipping what is left of the one before; `nil` when the form is over and its body read to
  /// the end.
  public mutating func nextPart() async throws -> MultipartPart? {
    while let (event, _) = try await nextEvent() {
      if case .part(let part) = event {
        isInPart = true
        return part
      }
    }
    return nil
  }

  /// The next bytes of the part, `nil` at its end. A piece of the body that holds nothing else is handed on as it
  /// is; others are copied.
  public mutating func nextPiece() async throws -> IOBuffer? {
    guard isInPart, let (event, input) = try await nextEvent() else { return nil }
    switch event {
    case .input(let range) where range.count == input.count: return input
    case .input(let range): return input.withUnsafeBytes { IOBuffer($0[range]) }
    case .heldBack(let bytes): return IOBuffer(bytes)
    case .part, .endOfPart:
      isInPart = false
      return nil
    }
  }

  /// All of the part, the value of a field named `name`; refuses more than `limit` bytes.
  public mutating func value(of name: String, upTo limit: Int) async throws -> [UInt8] {
    var value: [UInt8] = []
    while let piece = try await nextPiece() {
      guard value.count + piece.count <= limit else {
        throw MultipartError.fieldTooLong(name: name, limit: limit)
      }
      value += piece.bytes
    }
    return value
  }

  private mutating func nextEvent() async throws -> (event: MultipartParser.Event, input: IOBuffer)? {
    while true {
      if let input {
        let event = try input.withUnsafeBytes { bytes throws(MultipartError) in
          try parser.next(in: bytes, at: &position)
        }
        if let event { return (event, input) }
      }
      input = try await pieces.next()
      position = 0
      guard input != nil else {
        try parser.finish()
        return nil
      }
    }
  }
}
