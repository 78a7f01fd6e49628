public import HTTPSemantics
public import HTTPTypes
public import SystemIO

/// Reads a form as it arrives, part by part and piece by piece (RFC 7578). Use it from one task at a time.
///
/// Methods throw ``MultipartError`` if the form is malformed, and any error of the body.
public struct MultipartFormData {
  private var pieces: HTTPRequestBody.Iterator
  private var parser: MultipartParser
  private var input: IOBuffer?
  private var position = 0
  private var isInPart = false

  /// Creates a reader of `body`, whose `Content-Type` is `contentType` and must have the parameter `boundary`.
  public init(
    _ body: HTTPRequestBody, contentType: MediaType, limits: MultipartParser.Limits = MultipartParser.Limits()
  ) throws(MultipartError) {
    guard let boundary = contentType.parameters["boundary"] else { throw .boundary }
    parser = try MultipartParser(boundary: boundary, limits: limits)
    pieces = body.makeAsyncIterator()
  }

  /// Returns the next part, after skipping the rest of the current one. Returns `nil` after the last part, when the
  /// body was read to its end.
  public mutating func nextPart() async throws -> MultipartPart? {
    while let (event, _) = try await nextEvent() {
      if case .part(let part) = event {
        isInPart = true
        return part
      }
    }
    return nil
  }

  /// Returns the next bytes of the part, or `nil` at its end. A piece of the body that lies completely within the part
  /// is returned without copying.
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

  /// Returns all data of the part, which is the value of the field `name`. Throws if it is longer than `limit` bytes.
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

/// The head of one part of a form (RFC 7578 §4).
public struct MultipartPart: Sendable, Hashable {
  /// The form field's name.
  public let name: String
  /// The file name that the part states. It comes from the client: never use it as a path.
  public let fileName: String?
  /// The part's fields.
  public let headerFields: HTTPFields

  /// Parses a head whose lines all end in CRLF.
  init(head: some Collection<UInt8>) throws(MultipartError) {
    guard let text = String(validating: head, as: UTF8.self) else { throw .head }
    var fields: HTTPFields = [:]
    // Swift treats CR LF as one character.
    for line in text.split(separator: "\r\n") {
      guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon])) else {
        throw .head
      }
      var value = line[colon...].dropFirst()
      value = value.drop { $0 == " " || $0 == "\t" }
      while let last = value.last, last == " " || last == "\t" { value.removeLast() }
      guard HTTPField.isValidValue(String(value)) else { throw .head }
      fields.append(HTTPField(name: name, value: String(value)))
    }
    let dispositions = fields[values: .contentDisposition]
    guard dispositions.count == 1, let disposition = ContentDisposition(parsing: dispositions[0]),
      disposition.kind == "form-data", let name = disposition.name
    else { throw .disposition }
    self.name = name
    fileName = disposition.fileName
    headerFields = fields
  }
}

/// The reason why a form is rejected.
public enum MultipartError: Error, Sendable, Hashable, CustomStringConvertible {
  /// `Content-Type` has no boundary of 1 to 70 characters that RFC 2046 §5.1.1 allows.
  case boundary
  /// The body ends before its last boundary.
  case truncated
  /// A boundary is followed by something other than a line end.
  case boundaryLine
  /// A part's head is malformed.
  case head
  /// A part has no `Content-Disposition: form-data` with a name.
  case disposition
  /// The form has more parts than the limit.
  case tooManyParts(limit: Int)
  /// A part's head is longer than the limit, in bytes.
  case headTooLong(limit: Int)
  /// The bytes outside the parts exceed the limit.
  case paddingTooLong(limit: Int)
  /// The value of a field is longer than the limit, in bytes.
  case fieldTooLong(name: String, limit: Int)

  /// One sentence that describes the error, for people.
  public var description: String {
    switch self {
    case .boundary: "Content-Type names no valid boundary for the parts of the form."
    case .truncated: "The form ends before its last boundary."
    case .boundaryLine: "A boundary of the form is not followed by the end of its line."
    case .head: "The head of a part of the form is malformed."
    case .disposition: "A part of the form has no Content-Disposition: form-data with a name."
    case .tooManyParts(let limit): "The form has more than \(limit) parts."
    case .headTooLong(let limit): "The head of a part of the form is longer than \(limit) bytes."
    case .paddingTooLong(let limit): "The form has more than \(limit) bytes outside of its parts."
    case .fieldTooLong(let name, let limit): "The field ‘\(name)’ of the form is longer than \(limit) bytes."
    }
  }
}
