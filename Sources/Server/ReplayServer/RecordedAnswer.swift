import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat

/// Makes the response from a recording.
struct RecordedAnswer {
  let recording: Manifest.Recording
  /// The contents of the recording.
  let bytes: [UInt8]
  /// The recorded schemes and hosts.
  let hosts: Set<String>

  private var exchange: Manifest.Exchange? { recording.exchange }

  /// Returns the response to `request`. Conditions and ranges apply to a recorded 200.
  ///
  /// A recorded error is repeated: with a response, its body breaks off; without one, this throws
  /// ``HTTPBodyError/disconnected``, with which the engine closes the connection.
  func response(to request: HTTPServerRequest) throws -> HTTPServerResponse {
    guard let exchange else {
      return try Representation(
        .bytes(bytes), contentType: mediaType, entityTag: .strong(recording.sha256.description)
      ).response(to: request)
    }
    guard let recorded = exchange.response, recorded.status >= 200 else {
      throw HTTPBodyError.disconnected
    }
    var fields = ReplayedFields.of(recorded.fields.map { ($0.name, $0.value) })
    if (300..<400).contains(recorded.status), let place = fields[.location] ?? exchange.redirect?.url {
      fields[.location] = ReplayedFields.location(place, hosts, request)
    }
    let status = HTTPResponse.Status(integerLiteral: recorded.status(seenWith: bytes.count))
    if exchange.failure != nil {
      return HTTPServerResponse(status: status, headerFields: fields, body: broken)
    }
    guard status == .ok, request.method == .get || request.method == .head,
      exchange.request.method != "HEAD"
    else {
      if exchange.request.method == "HEAD" {
        // The engine sends the length of a body that is not there only if it is stated.
        fields[.contentLength] = exchange.responseField("content-length")
      }
      return HTTPServerResponse(
        status: status, headerFields: fields, body: bytes.isEmpty ? .empty : .bytes(bytes))
    }
    return try representation(fields).response(to: request, isTyped: fields[.contentType] != nil)
  }

  private func representation(_ recorded: HTTPFields) -> Representation {
    var fields = recorded
    let tag = fields[.eTag].flatMap { EntityTag($0) }
    let date = fields[.lastModified].flatMap { HTTPDate($0) }
    if tag != nil { fields[.eTag] = nil }
    if date != nil { fields[.lastModified] = nil }
    fields[.contentType] = nil
    fields[.acceptRanges] = nil
    return Representation(
      .bytes(bytes), contentType: recorded[.contentType] ?? mediaType, entityTag: tag, lastModified: date,
      headerFields: fields)
  }

  /// What was received until the recorded error, and then the end of the connection.
  private var broken: HTTPServerResponse.Body {
    let pieces = Pieces([bytes].filter { !$0.isEmpty })
    return .stream {
      guard let piece = await pieces.next() else { throw HTTPBodyError.disconnected }
      return piece
    }
  }

  private actor Pieces {
    private var left: [[UInt8]]
    init(_ pieces: [[UInt8]]) { left = pieces }
    func next() -> [UInt8]? { left.popLast() }
  }

  /// The media type of the contents, judged by the identifier and the first bytes.
  private var mediaType: String {
    if recording.isMeantAsJSON { return "application/json" }
    var examiner = ContentExaminer()
    examiner.take(bytes)
    return switch examiner.finish().kind {
    case .json: "application/json"
    case .jsonLines: "application/x-ndjson"
    case .html: "text/html; charset=utf-8"
    case .xml: "application/xml"
    case .propertyList: "application/x-plist"
    case .text: "text/plain; charset=utf-8"
    case .image: imageType
    case .binary, .empty: "application/octet-stream"
    }
  }

  private var imageType: String {
    switch bytes.first {
    case 0x89: "image/png"
    case 0xFF: "image/jpeg"
    case UInt8(ascii: "G"): "image/gif"
    case UInt8(ascii: "R"): "image/webp"
    default: "image/heic"
    }
  }
}

extension Representation {
  /// The response to `request`; without `Content-Type` if none was recorded.
  fileprivate func response(
    to request: HTTPServerRequest, isTyped: Bool
  ) throws(HTTPProblem) -> HTTPServerResponse {
    var response = try response(to: request)
    if !isTyped, response.headerFields[.contentType] == contentType {
      response.headerFields[.contentType] = nil
    }
    return response
  }
}
