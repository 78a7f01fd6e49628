public import HTTPSemantics
public import HTTPTypes
public import SystemIO

/// The current content of a resource. Creates the response to `GET` and `HEAD`: the whole content, the requested
/// ranges, or 304 (RFC 9110 §13 to §15).
public struct Representation: Sendable {
  /// The source of the bytes.
  public enum Content: Sendable {
    /// The first `size` bytes of an open file.
    case file(File, size: Int64)
    /// Bytes in memory.
    case bytes([UInt8])
    /// Parts in sequence.
    case parts([HTTPServerResponse.Part])
    /// `size` bytes that are produced while they are sent. `pieces` returns a closure for a range; each call of it
    /// returns the next piece, and `nil` at the end. Nothing is produced before the first call. Requests for several
    /// ranges get the whole content.
    case made(size: Int64, pieces: @Sendable (Range<Int64>) -> @Sendable () async throws -> [UInt8]?)

    /// The length in bytes.
    public var size: Int64 {
      switch self {
      case .file(_, let size), .made(let size, _): size
      case .bytes(let bytes): Int64(bytes.count)
      case .parts(let parts): parts.reduce(0) { $0 + $1.size }
      }
    }

    /// Returns the body for `range`.
    fileprivate func body(_ range: Range<Int64>) -> HTTPServerResponse.Body {
      switch self {
      case .bytes(let bytes) where range == 0..<size: return .bytes(bytes)
      case .made(_, let pieces): return .stream(length: range.upperBound - range.lowerBound, pieces(range))
      case .file, .bytes, .parts:
        let parts = parts(range)
        if parts.count == 1, case .bytes(let bytes) = parts[0] { return .bytes(bytes) }
        return .parts(parts)
      }
    }

    /// Returns the parts for `range`. Returns none for content that is produced on demand.
    fileprivate func parts(_ range: Range<Int64>) -> [HTTPServerResponse.Part] {
      switch self {
      case .file(let file, _):
        return [.file(file, offset: range.lowerBound, count: range.upperBound - range.lowerBound)]
      case .bytes(let bytes):
        return [.bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))]
      case .parts(let parts):
        var start: Int64 = 0
        return parts.compactMap { part in
          defer { start += part.size }
          let wanted = range.clamped(to: start..<start + part.size)
          return wanted.isEmpty ? nil : part.section(wanted.lowerBound - start..<wanted.upperBound - start)
        }
      case .made: return []
      }
    }

    /// Whether the bytes exist before they are sent.
    fileprivate var isThere: Bool { if case .made = self { false } else { true } }
  }

  /// The bytes. A representation whose bytes are opened for each request gets them here.
  public var content: Content
  /// The value of `Content-Type`.
  public let contentType: String
  /// The entity tag of these bytes.
  public let entityTag: EntityTag?
  /// The time of the last change.
  public let lastModified: HTTPDate?
  /// Whether range requests are supported. A resource can ignore them if its content is only useful as a whole (RFC
  /// 9110 §14.2).
  public let hasRanges: Bool
  /// Additional fields. They are sent with 200 and 206; a 304 has only those of RFC 9110 §15.4.5.
  public let headerFields: HTTPFields
  /// All fields of a 200. Stored, because a representation can be the response to many requests.
  private let fields: HTTPFields

  /// Creates a representation from its parts.
  public init(
    _ content: Content, contentType: String, entityTag: EntityTag? = nil, lastModified: HTTPDate? = nil,
    hasRanges: Bool = true, headerFields: HTTPFields = [:]
  ) {
    self.content = content
    self.contentType = contentType
    self.entityTag = entityTag
    self.lastModified = lastModified
    self.hasRanges = hasRanges
    self.headerFields = headerFields
    var fields = headerFields
    Self.append(entityTag, lastModified, to: &fields)
    fields[.contentType] = contentType
    if hasRanges { fields[.acceptRanges] = "bytes" }
    self.fields = fields
  }

  /// Returns the response to `request`, which must be a `GET` or `HEAD`: 200, 206 or 304. Throws 412 if a precondition
  /// is false, and 416 if no byte of the range exists. The response to `HEAD` has the body, too; the server omits it.
  ///
  /// - Parameters:
  ///   - request: the request, whose conditions and ranges are applied.
  ///   - boundary: separates several ranges. It must not occur in the content. The default has 128 random bits.
  public func response(
    to request: HTTPServerRequest, boundary: @autoclosure () -> String = Self.makeBoundary()
  ) throws(HTTPProblem) -> HTTPServerResponse {
    let preconditions = Preconditions(request.headerFields)
    let current = Preconditions.Current(entityTag: entityTag, lastModified: lastModified)
    switch preconditions.verdict(request.method, on: current) {
    case .failed: throw .preconditionFailed()
    case .notModified: return notModified
    case .proceed: break
    }
    // Ranges are defined only for GET (§14.2).
    let isRanged = hasRanges && request.method == .get && preconditions.allowsRange(of: entityTag)
    switch ByteRanges(isRanged ? request.headerFields[.range] : nil, size: content.size) {
    case .whole:
      return whole
    case .unsatisfiable:
      throw .rangeNotSatisfiable(size: content.size)
    case .some(let ranges) where ranges.count == 1:
      var fields = fields
      fields[.contentRange] = contentRange(ranges[0])
      return HTTPServerResponse(status: .partialContent, headerFields: fields, body: content.body(ranges[0]))
    case .some(let ranges) where content.isThere:
      return multipart(ranges, boundary: boundary())
    case .some:
      return whole
    }
  }

  private var whole: HTTPServerResponse {
    HTTPServerResponse(status: .ok, headerFields: fields, body: content.body(0..<content.size))
  }

  /// Returns 32 random hexadecimal digits.
  public static func makeBoundary() -> String {
    (0..<4).map { _ in String(UInt32.random(in: .min ... .max) | 1 << 31, radix: 16) }.joined()
  }

  private static func append(
    _ entityTag: EntityTag?, _ lastModified: HTTPDate?, to fields: inout HTTPFields
  ) {
    if let entityTag { fields.append(HTTPField(name: .eTag, value: entityTag.description)) }
    if let lastModified { fields.append(HTTPField(name: .lastModified, value: lastModified.description)) }
  }

  private var notModified: HTTPServerResponse {
    var fields: HTTPFields = [:]
    Self.append(entityTag, lastModified, to: &fields)
    for name in [HTTPField.Name.cacheControl, .contentLocation, .expires, .vary] {
      fields[values: name] = headerFields[values: name]
    }
    return HTTPServerResponse(status: .notModified, headerFields: fields)
  }

  private func contentRange(_ range: Range<Int64>) -> String {
    "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.size)"
  }

  /// `multipart/byteranges` (§14.6).
  private func multipart(_ ranges: [Range<Int64>], boundary: String) -> HTTPServerResponse {
    var parts: [HTTPServerResponse.Part] = []
    var lead = "--"
    for range in ranges {
      let head =
        "\(lead)\(boundary)\r\nContent-Type: \(contentType)\r\nContent-Range: \(contentRange(range))\r\n\r\n"
      parts.append(.bytes(Array(head.utf8)))
      parts += content.parts(range)
      lead = "\r\n--"
    }
    parts.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
    var fields = fields
    fields[.contentType] = "multipart/byteranges; boundary=\(boundary)"
    return HTTPServerResponse(status: .partialContent, headerFields: fields, body: .parts(parts))
  }
}

extension HTTPServerResponse.Part {
  fileprivate var size: Int64 {
    switch self {
    case .bytes(let bytes): Int64(bytes.count)
    case .file(_, _, let count): count
    }
  }

  /// Returns the part for `range`, which must be within this part.
  fileprivate func section(_ range: Range<Int64>) -> Self {
    switch self {
    case .bytes(let bytes): .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
    case .file(let file, let offset, _):
      .file(file, offset: offset + range.lowerBound, count: range.upperBound - range.lowerBound)
    }
  }
}
