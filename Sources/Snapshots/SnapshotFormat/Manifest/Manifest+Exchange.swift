public import Foundation
import JSONText

extension Manifest {
  /// An HTTP request and its response, described beside the recording whose bytes are the response's body.
  ///
  /// A redirect is an exchange of its own: its response is the redirect, and ``redirect`` is the request to which it leads.
  public struct Exchange: Hashable, Sendable {
    /// The maximum size of one description as JSON without white space, in bytes. A writer does not record a larger one.
    public static let sizeLimit = 64 << 10
    /// The maximum size of one description in a manifest, with white space, in bytes. A reader ignores a larger one.
    static let readLimit = 256 << 10

    /// A header field.
    public struct Field: Hashable, Sendable {
      /// The name, as it was received or set.
      public var name: String
      /// The value.
      public var value: String

      /// Creates a field.
      public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
      }
    }

    /// A request.
    public struct Request: Hashable, Sendable {
      /// The method, such as `GET`.
      public var method: String
      /// The absolute URL, redacted.
      public var url: String
      /// The header fields, redacted.
      public var fields: [Field]
      /// The file with the body in the bundle; `nil` if there is no body.
      public var body: Body?

      /// Creates the description of a request without a body.
      public init(method: String, url: String, fields: [Field] = []) {
        self.method = method
        self.url = url
        self.fields = fields
      }
    }

    /// The body of a request, which is in the file ``Recording/requestBodyPath``.
    public struct Body: Hashable, Sendable {
      /// The size in bytes.
      public var size: Int64
      /// The digest of the contents.
      public var sha256: ContentDigest

      /// Creates the description of a body.
      public init(size: Int64, sha256: ContentDigest) {
        self.size = size
        self.sha256 = sha256
      }
    }

    /// A response. Its body is the recording itself.
    public struct Response: Hashable, Sendable {
      /// The status code, from 100 to 999.
      public var status: Int
      /// The header fields, redacted.
      public var fields: [Field]

      /// The status that the app or the page saw with a body of `size` bytes. The archive of a browser has a 304
      /// together with the contents of the browser's cache, which the page saw as a 200.
      package func status(seenWith size: Int) -> Int { status == 304 && size > 0 ? 200 : status }

      /// Creates the description of a response.
      public init(status: Int, fields: [Field] = []) {
        self.status = status
        self.fields = fields
      }
    }

    /// The request to which a redirect leads.
    public struct Redirect: Codable, Hashable, Sendable {
      /// The method.
      public var method: String
      /// The absolute URL, redacted.
      public var url: String

      /// Creates the description of a redirect.
      public init(method: String, url: String) {
        self.method = method
        self.url = url
      }
    }

    /// The error with which an exchange ended, such as a time-out or a cancellation.
    public struct Failure: Hashable, Sendable {
      /// The domain of the error, such as `NSURLErrorDomain`.
      public var domain: String
      /// The code in the domain.
      public var code: Int

      /// Creates the description of an error.
      public init(domain: String, code: Int) {
        self.domain = domain
        self.code = code
      }
    }

    /// The request.
    public var request: Request
    /// The response; `nil` if none was received.
    public var response: Response?
    /// If the response is a redirect, the request that followed, or would have followed if the app had not refused it.
    public var redirect: Redirect?
    /// The error; `nil` if the response was received completely. With a response, the body is what was received until
    /// then.
    public var failure: Failure?
    /// When the request was made, with millisecond precision.
    public var startedAt: Date
    /// The milliseconds from the start to the response's header; `nil` if none was received.
    public var responseAfter: Int?
    /// The milliseconds from the start to the end.
    public var duration: Int

    /// Creates the description of an exchange.
    public init(
      request: Request, response: Response? = nil, redirect: Redirect? = nil, failure: Failure? = nil,
      startedAt: Date, responseAfter: Int? = nil, duration: Int = 0
    ) {
      self.request = request
      self.response = response
      self.redirect = redirect
      self.failure = failure
      self.startedAt = SnapshotJSON.milliseconds(of: startedAt)
      self.responseAfter = responseAfter
      self.duration = duration
    }

    /// When it ended.
    public var endedAt: Date { startedAt.addingTimeInterval(Double(duration) / 1000) }

    /// The approximate size of the description as JSON without white space, in bytes: all texts, and an allowance for the
    /// rest.
    package var descriptionSize: Int {
      let fields = request.fields + (response?.fields ?? [])
      let texts = [request.method, request.url, redirect?.method ?? "", redirect?.url ?? ""]
      return fields.reduce(400) { $0 + $1.name.utf8.count + $1.value.utf8.count + 8 }
        + texts.reduce(0) { $0 + $1.utf8.count }
    }

    /// The response's first field called `name`, in any letter case.
    public func responseField(_ name: String) -> String? {
      response?.fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }
  }
}

extension Manifest.Exchange: CustomStringConvertible {
  /// Method, URL, outcome and duration on one line, such as `GET https://example.com/feed → 200, 41 ms`.
  public var description: String { "\(request.method) \(request.url) → \(outcome), \(duration) ms" }

  /// The status or the error, such as `200`, `timed out`, `200, then connection lost` or `NSURLErrorDomain -1017`.
  public var status: String {
    if let failure { return response.map { "\($0.status), then \(failure)" } ?? "\(failure)" }
    return response.map { "\($0.status)" } ?? "no response"
  }

  /// ``status`` and the target of a redirect, such as `302 to https://example.com/`.
  public var outcome: String { redirect.map { "\(status) to \($0.url)" } ?? status }
}

extension Manifest.Exchange.Failure: CustomStringConvertible {
  private static let words = [
    -999: "cancelled", -1001: "timed out", -1003: "host not found", -1004: "connection refused",
    -1005: "connection lost", -1009: "offline", -1200: "TLS failed",
  ]

  /// The error in a few words, such as `timed out`.
  public var description: String {
    (domain == "NSURLErrorDomain" ? Self.words[code] : nil) ?? "\(domain) \(code)"
  }
}

// MARK: - JSON

extension Manifest.Exchange.Field: Encodable {
  /// Encodes the field as an array of its name and value.
  public func encode(to encoder: any Encoder) throws {
    var pair = encoder.unkeyedContainer()
    try pair.encode(name)
    try pair.encode(value)
  }
}

extension Manifest.Exchange.Request: Encodable {}
extension Manifest.Exchange.Body: Encodable {}
extension Manifest.Exchange.Response: Encodable {}
extension Manifest.Exchange.Failure: Encodable {}

extension Manifest.Exchange: Codable {
  /// Decodes an exchange. Throws for a value that is not one.
  public init(from decoder: any Decoder) throws {
    guard let exchange = Manifest.Exchange(json: try JSONValue(from: decoder)) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "this is not an exchange"))
    }
    self = exchange
  }

  /// Reads an exchange. `nil` for any other value, which a reader ignores.
  init?(json: JSONValue) {
    guard case .object(let members) = json, case .object(let sent)? = members["request"],
      let method = sent["method"]?.text, let url = sent["url"]?.text,
      let start = members["startedAt"]?.text.flatMap(SnapshotJSON.time),
      let duration = members["duration"]?.count
    else { return nil }
    request = Request(method: method, url: url, fields: Field.all(in: sent["fields"]))
    if case .object(let body)? = sent["body"], let size = body["size"]?.count,
      let sha256 = body["sha256"]?.text.flatMap(ContentDigest.init(hexadecimal:))
    {
      request.body = Body(size: Int64(size), sha256: sha256)
    }
    if case .object(let received)? = members["response"] {
      guard let status = received["status"]?.count, 100...999 ~= status else { return nil }
      response = Response(status: status, fields: Field.all(in: received["fields"]))
    }
    if case .object(let next)? = members["redirect"], let method = next["method"]?.text,
      let url = next["url"]?.text
    {
      redirect = Redirect(method: method, url: url)
    }
    if case .object(let error)? = members["failure"], let domain = error["domain"]?.text,
      case .integer(let code)? = error["code"]
    {
      failure = Failure(domain: domain, code: Int(clamping: code))
    }
    startedAt = start
    responseAfter = members["responseAfter"]?.count
    self.duration = duration
  }
}

extension Manifest.Exchange.Field {
  fileprivate static func all(in json: JSONValue?) -> [Self] {
    guard case .array(let pairs)? = json else { return [] }
    return pairs.compactMap { pair in
      guard case .array(let texts) = pair, texts.count == 2, let name = texts[0].text,
        let value = texts[1].text
      else { return nil }
      return Self(name, value)
    }
  }
}

extension JSONValue {
  fileprivate var text: String? { if case .string(let text) = self { text } else { nil } }
  /// An integer from 0.
  fileprivate var count: Int? {
    if case .integer(let number) = self, number >= 0 { Int(clamping: number) } else { nil }
  }
}
