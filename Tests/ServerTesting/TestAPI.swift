package import AccessControl
package import Foundation
package import HTTPEngine
import HTTPSemantics
package import HTTPTypes
import Logging
package import Observability
package import SnapshotAPI
package import SnapshotFormat
package import SnapshotServer
import SnapshotService
package import SnapshotStore
package import StoreTesting
package import SystemIO
package import Webhooks

/// The server over a store in memory or the one of ``EveryStoreTrait``, asked without a socket; it has not been started.
package struct TestAPI: Sendable {
  /// Its store, which counts uploads and fails on demand.
  package let store: ObservedStore
  /// Its catalogue.
  package let catalog: InMemoryCatalog
  /// What the server logged.
  package let log = CapturedLog()
  /// The server itself.
  package let application: ServerApplication
  /// The limits of its upload store.
  package let uploadLimits: UploadLimits
  /// Ends when the catalogue is as it is where a server was opened on an empty storage: it lists all there is.
  private let prepared: Task<Void, any Error>

  /// Makes a server with these settings; by default without tokens, on an empty store.
  ///
  /// - Parameters:
  ///   - shared: a storage that other servers use too, and its catalogue; `nil` makes a new one.
  ///   - rules: what expires, when it is asked for.
  package init(
    over shared: (storage: ServerStorage, catalog: InMemoryCatalog)? = nil,
    limits: ServiceLimits = ServiceLimits(), access: AccessPolicy = .open,
    rules: RetentionRules = RetentionRules(), uploadLimits: UploadLimits = UploadLimits(),
    offer: ResumableUploads.Configuration = .init(), now: @escaping @Sendable () -> Date = { Date() },
    observation: Observation = Observation(), more: [Endpoint] = [], at address: PublicAddress? = nil,
    webhooks: Webhooks? = nil
  ) {
    let log = log
    let isUsual = uploadLimits == UploadLimits()
    store = ObservedStore(
      shared?.storage.store ?? (isUsual ? EveryStoreTrait.takeStore() : nil)
        ?? InMemoryStore(validator: EveryStoreTrait.validator, uploadLimits: uploadLimits))
    catalog = shared?.catalog ?? InMemoryCatalog()
    self.uploadLimits = uploadLimits
    var settings = ServerSettings()
    settings.retention.rules = rules
    settings.retention.scrubBytesPerSecond = 1 << 30
    settings.publicURL = address
    settings.uploads.offer = offer
    settings.uploads.interimAnswers = offer.sendsInterimAnswers
    application = ServerApplication(
      settings, storage: shared?.storage ?? ServerStorage(store, catalog: catalog),
      access: access, observation: observation, limits: limits, more: more, webhooks: webhooks,
      now: now,
      logger: Logger(label: "test") { _ in log })
    prepared = Task { [catalog, indexer = application.indexer] in
      try await catalog.complete(generation: 0)
      await indexer.prepare(storeIsEmpty: true)
    }
  }

  /// Everything that the server answers.
  package var handler: SnapshotHandler { application.handler }
  /// The calls of the API.
  package var calls: [Endpoint] { handler.endpoints.filter { $0.documentation != nil } }
  /// The web pages and the actions of their forms.
  package var pages: [Endpoint] { handler.endpoints.filter(\.isPage) }

  /// What came back: an answer, or the problem that is told.
  package struct Answer {
    package var status: Int
    package var fields: HTTPFields
    package var bytes: [UInt8]
    package var problem: HTTPProblem?
    /// The interim answers that came before.
    package var interim: [(status: Int, fields: HTTPFields)] = []

    /// The body as text.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
    /// The last word of the problem's type.
    package var kind: Substring? { problem?.type.split { $0 == ":" || $0 == "#" }.last }

    /// The JSON body as a `Value`.
    package func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
      try SnapshotJSON.decode(type, from: Data(bytes))
    }
  }

  /// Sends a request, and verifies that the response conforms to the description of the API.
  @discardableResult
  package func send(
    _ method: HTTPRequest.Method, _ path: String, query: String? = nil, _ fields: HTTPFields = [:],
    body: HTTPRequestBody = .empty, authority: String = "localhost", peer: String = "127.0.0.1:4711",
    from connected: IPAddress? = .loopback, certificate: ClientCertificate? = nil
  ) async throws -> Answer {
    let interim = Lock<[(status: Int, fields: HTTPFields)]>([])
    let request = HTTPServerRequest(
      method: method, path: path, query: query, authority: authority, headerFields: fields, body: body,
      peer: peer, connectedAddress: connected, clientCertificate: certificate
    ) { status, fields in
      interim.withLock { $0.append((status.code, fields)) }
      return true
    }
    var answer = try await answer(to: request)
    answer.interim = interim.withLock { $0 }
    DescribedAnswers.check(request, answer)
    return answer
  }

  private func answer(to request: HTTPServerRequest) async throws -> Answer {
    try await prepared.value
    do {
      let response = try await handler.respond(to: request)
      return Answer(
        status: response.status.code, fields: response.headerFields + response.addedFields,
        bytes: try await Self.bytes(of: response.body))
    } catch let problem as HTTPProblem {
      return Answer(status: problem.status.code, fields: problem.headerFields, bytes: [], problem: problem)
    }
  }

  /// Sends a bundle alone.
  @discardableResult
  package func upload(
    _ bytes: [UInt8], _ method: HTTPRequest.Method = .post, report: String = "BUG-1", id: SnapshotID? = nil,
    fields: HTTPFields = [:], isChunked: Bool = false
  ) async throws -> Answer {
    var fields = fields
    if fields[.contentType] == nil { fields[.contentType] = "application/zip" }
    let path = "/v1/reports/\(PercentCoding.encode(report))/snapshots" + (id.map { "/\($0)" } ?? "")
    return try await send(method, path, fields, body: .pieces(of: bytes, isChunked: isChunked))
  }

  /// Sends a form of `parts`: heads without their last empty line, and data.
  @discardableResult
  package func uploadForm(
    _ parts: [(head: String, data: [UInt8])], report: String = "BUG-1", _ fields: HTTPFields = [:],
    pieceSize: Int = 100, isChunked: Bool = false
  ) async throws -> Answer {
    var fields = fields
    fields[.contentType] = "multipart/form-data; boundary=XX"
    return try await send(
      .post, "/v1/reports/\(report)/snapshots", fields,
      body: .pieces(of: Self.form(parts), size: pieceSize, isChunked: isChunked))
  }

  /// The body of such a form, with the boundary `XX`.
  package static func form(_ parts: [(head: String, data: [UInt8])]) -> [UInt8] {
    parts.flatMap { Array("--XX\r\n\($0.head)\r\n\r\n".utf8) + $0.data + [13, 10] } + Array("--XX--\r\n".utf8)
  }

  private static func bytes(of body: HTTPServerResponse.Body) async throws -> [UInt8] {
    switch body {
    case .empty: return []
    case .stream(_, let next):
      var bytes: [UInt8] = []
      while let piece = try await next() { bytes += piece }
      return bytes
    case .bytes(let bytes): return bytes
    case .parts(let parts):
      return try parts.flatMap { part in
        switch part {
        case .bytes(let bytes): bytes
        case .file(let file, let offset, let count): try file.read(upTo: Int(count), at: offset)
        }
      }
    }
  }
}
