import Crypto
package import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Logging
package import S3Client
import SystemIO

/// An S3-compatible store in memory, with one bucket, on the loopback address.
///
/// It verifies every signature and the digest of every body, and executes conditional writes atomically. Objects exist
/// as long as the server does.
package final class FakeS3Server: Sendable {
  /// Faults of real stores.
  package struct Defects: Sendable, Hashable {
    /// Compares `If-Match` with the bare version, like Ceph's gateway.
    package var wantsBareVersions = false
    package var ignoresIfNoneMatch = false
    package var ignoresIfMatch = false
    /// Makes no object of some of the parts of an upload only, like Ceph's gateway.
    package var wantsAllParts = false
    /// The maximum length of a page in lists, if less than the client asks for.
    package var pageLength = 1000

    package init() {}
  }

  /// What happens to a request instead of its normal answer.
  package enum Fault: Sendable, Hashable {
    /// The request is not executed.
    case refused(status: Int, code: String)
    /// The request is executed, and its answer is replaced by status 500.
    case failedAfterwards
    /// The request is executed, and the connection breaks.
    case brokenAfterwards
    /// The answer is status 500, and the request is executed after the next one.
    case delayed
    /// The connection breaks after so many bytes of the answer's body.
    case cut(after: Int)
    /// After so many bytes of its body, the answer waits for ``FakeS3Server/resume()``.
    case paused(after: Int)
  }

  /// A request, as faults select it.
  package struct Call: Sendable, Hashable {
    package let method: String
    /// The key; empty for a request to the bucket.
    package let key: String
    /// Whether the request has a condition.
    package let isConditional: Bool
  }

  package static let bucket = "tests"
  package static let credentials = S3Credentials(
    accessKey: accessKey, secretKey: secretKey, sessionToken: sessionToken)

  /// The credentials as a program finds them in its environment.
  package static let environment = [
    "AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_SESSION_TOKEN": sessionToken,
  ]
  private static let accessKey = "AKIDEXAMPLE"
  private static let secretKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
  private static let sessionToken = "a/token=="

  /// The address of the server.
  package let endpoint: URL
  private let server: HTTPServer
  private let storage: FakeS3Storage

  /// Starts a server. Stop it with ``stop()``.
  package static func start(_ defects: Defects = Defects()) async throws -> FakeS3Server {
    let storage = FakeS3Storage(defects)
    var configuration = HTTPServer.Configuration(port: 0)
    configuration.eventLoops = 1
    configuration.limits.connectionsPerAddress = 10_000
    configuration.limits.bodyBytes = 1 << 30
    let server = HTTPServer(
      configuration: configuration, handler: storage,
      logger: Logger(label: "s3") { _ in SwiftLogNoOpLogHandler() })
    let address = try await server.start()
    guard let endpoint = URL(string: "http://127.0.0.1:\(address.port)") else { throw URLError(.badURL) }
    return FakeS3Server(server, storage, endpoint)
  }

  private init(_ server: HTTPServer, _ storage: FakeS3Storage, _ endpoint: URL) {
    self.server = server
    self.storage = storage
    self.endpoint = endpoint
  }

  /// Stops the server.
  package func stop() async { await server.shutdown(deadline: .zero) }

  /// Sets the function that selects faults; `nil` removes it.
  package func inject(_ faults: (@Sendable (Call) -> Fault?)?) { storage.inject(faults) }

  /// Continues all paused answers, also those that are yet to pause.
  package func resume() { storage.resume() }

  /// The keys of all objects, sorted.
  package var keys: [String] { storage.keys }

  /// The number of uploads in parts that are neither completed nor aborted.
  package var openUploads: Int { storage.openUploads }

  /// The contents of an object; `nil` if there is none.
  package subscript(key: String) -> Data? {
    get { storage.contents(key) }
    set { storage.replace(key, newValue) }
  }

  /// Makes all objects older.
  package func age(by seconds: TimeInterval) { storage.age(by: seconds) }

  /// Lets the clock of the server, by which lists are answered, differ from that of the machine.
  package func setClock(ahead seconds: TimeInterval) { storage.setClock(ahead: seconds) }

  /// All requests so far.
  package var calls: [Call] { storage.calls }
}

/// The objects of the server, and the operations on them.
private final class FakeS3Storage: HTTPHandler {
  struct Object {
    var bytes: Data
    var modifiedAt = Date()
    var etag: String

    init(_ bytes: Data) {
      self.bytes = bytes
      etag = S3Encoding.hexadecimal(Insecure.MD5.hash(data: bytes))
    }
  }

  private struct State {
    var objects: [String: Object] = [:]
    var uploads: [String: (key: String, begunAt: Date, parts: [Int: Object])] = [:]
    var faults: (@Sendable (FakeS3Server.Call) -> FakeS3Server.Fault?)?
    var calls: [FakeS3Server.Call] = []
    var delayed: FakeS3Request?
    var paused: [CheckedContinuation<Void, Never>] = []
    var isResumed = false
    /// By how much the clock is ahead of that of the machine, in seconds.
    var ahead: TimeInterval = 0
  }

  private let defects: FakeS3Server.Defects
  private let state = Lock(State())

  init(_ defects: FakeS3Server.Defects) { self.defects = defects }

  func inject(_ faults: (@Sendable (FakeS3Server.Call) -> FakeS3Server.Fault?)?) {
    state.withLock { $0.faults = faults }
  }

  func resume() {
    let paused = state.withLock { state in
      state.isResumed = true
      defer { state.paused = [] }
      return state.paused
    }
    for answer in paused { answer.resume() }
  }

  private func pause() async {
    await withCheckedContinuation { continuation in
      let isResumed = state.withLock { state in
        if !state.isResumed { state.paused.append(continuation) }
        return state.isResumed
      }
      if isResumed { continuation.resume() }
    }
  }

  var keys: [String] { state.withLock { $0.objects.keys.sorted() } }
  var openUploads: Int { state.withLock { $0.uploads.count } }
  var calls: [FakeS3Server.Call] { state.withLock { $0.calls } }
  func contents(_ key: String) -> Data? { state.withLock { $0.objects[key]?.bytes } }
  func replace(_ key: String, _ bytes: Data?) { state.withLock { $0.objects[key] = bytes.map(Object.init) } }

  func age(by seconds: TimeInterval) {
    state.withLock { state in for key in state.objects.keys { state.objects[key]?.modifiedAt -= seconds } }
  }

  func setClock(ahead seconds: TimeInterval) { state.withLock { $0.ahead = seconds } }

  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
    let body = Data(try await request.body.collect(upTo: 1 << 30))
    guard FakeS3Request.names(request, FakeS3Server.bucket) else { return .error(404, "NoSuchBucket") }
    guard let call = FakeS3Request(request, body) else { return .error(400, "InvalidURI") }
    if let refusal = call.refusal(of: FakeS3Server.credentials) { return refusal }
    let fault = state.withLock { state in
      let seen = FakeS3Server.Call(
        method: request.method.rawValue, key: call.key,
        isConditional: call.fields[.ifMatch] != nil || call.fields[.ifNoneMatch] != nil)
      state.calls.append(seen)
      return state.faults?(seen)
    }
    if case .refused(let status, let code) = fault { return .error(status, code) }
    let response = state.withLock { state in
      let delayed = state.delayed.take()
      if fault == .delayed { state.delayed = call }
      defer { if let delayed { _ = execute(delayed, &state) } }
      return fault == .delayed ? .error(500, "InternalError") : execute(call, &state)
    }
    switch fault {
    case .failedAfterwards: return .error(500, "InternalError")
    case .brokenAfterwards:
      request.abort()
      return response
    case .cut(let count): return response.interrupted(after: count) { throw CancellationError() }
    case .paused(let count): return response.interrupted(after: count) { await self.pause() }
    default: return response
    }
  }

  private func execute(_ call: FakeS3Request, _ state: inout State) -> HTTPServerResponse {
    switch (call.method, call.key.isEmpty) {
    case (.get, true) where call.query["uploads"] != nil: listUploads(call, state)
    case (.get, true): list(call, state)
    case (.put, false) where call.query["partNumber"] != nil: uploadPart(call, &state)
    case (.put, false): put(call, &state)
    case (.post, false) where call.query["uploads"] != nil: beginUpload(call, &state)
    case (.post, false): completeUpload(call, &state)
    case (.get, false) where call.query["uploadId"] != nil: listParts(call, state)
    case (.get, false), (.head, false): get(call, state)
    case (.delete, false) where call.query["uploadId"] != nil:
      state.uploads.removeValue(forKey: call.query["uploadId"] ?? "") == nil
        ? .error(404, "NoSuchUpload") : HTTPServerResponse(status: .noContent)
    case (.delete, false): delete(call, &state)
    default: .error(405, "MethodNotAllowed")
    }
  }

  // MARK: Objects

  private func put(_ call: FakeS3Request, _ state: inout State) -> HTTPServerResponse {
    let present = state.objects[call.key]
    if call.fields[.ifNoneMatch] != nil, !defects.ignoresIfNoneMatch, present != nil {
      return .error(412, "PreconditionFailed")
    }
    if let wanted = call.fields[.ifMatch], !defects.ignoresIfMatch {
      guard let present else { return .error(404, "NoSuchKey") }
      guard wanted == (defects.wantsBareVersions ? present.etag : "\"\(present.etag)\"") else {
        return .error(412, "PreconditionFailed")
      }
    }
    let object = Object(call.body)
    state.objects[call.key] = object
    return HTTPServerResponse(status: .ok, headerFields: [.eTag: "\"\(object.etag)\""])
  }

  private func get(_ call: FakeS3Request, _ state: State) -> HTTPServerResponse {
    guard let object = state.objects[call.key] else { return .error(404, "NoSuchKey") }
    var fields: HTTPFields = [.eTag: "\"\(object.etag)\""]
    fields[.contentDisposition] = call.query["response-content-disposition"]
    guard
      let range = call.fields[.range]?.dropFirst("bytes=".count).split(separator: "-").compactMap({ Int($0) }
      ),
      range.count == 2
    else { return HTTPServerResponse(status: .ok, headerFields: fields, body: .bytes(Array(object.bytes))) }
    guard range[0] < object.bytes.count else { return .error(416, "InvalidRange") }
    let last = min(range[1], object.bytes.count - 1)
    fields[.contentRange] = "bytes \(range[0])-\(last)/\(object.bytes.count)"
    return HTTPServerResponse(
      status: .partialContent, headerFields: fields, body: .bytes(Array(object.bytes[range[0]...last])))
  }

  private func delete(_ call: FakeS3Request, _ state: inout State) -> HTTPServerResponse {
    state.objects[call.key] = nil
    return HTTPServerResponse(status: .noContent)
  }

  private func list(_ call: FakeS3Request, _ state: State) -> HTTPServerResponse {
    let (prefix, start) = (
      call.query["prefix"] ?? "", call.query["continuation-token"].flatMap { $0.removingPercentEncoding }
    )
    let limit = min(call.query["max-keys"].flatMap { Int($0) } ?? 1000, defects.pageLength)
    let keys = state.objects.keys.filter { key in
      key.hasPrefix(prefix) && start.map { key > $0 } ?? true
    }
    .sorted()
    let page = keys.prefix(limit)
    let contents = page.map { key in
      let object = state.objects[key] ?? Object(Data())
      let time = UTCTime(secondsSince1970: object.modifiedAt.timeIntervalSince1970 + state.ahead)
      return "<Contents><Key>\(S3Encoding.encodePath(key))</Key><LastModified>\(time)</LastModified>"
        + "<ETag>&quot;\(object.etag)&quot;</ETag><Size>\(object.bytes.count)</Size></Contents>"
    }
    let more = page.count < keys.count
    return .document(
      "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><IsTruncated>\(more)</IsTruncated>"
        + (more ? "<NextContinuationToken>\(S3Encoding.encode(page.last ?? ""))</NextContinuationToken>" : "")
        + contents.joined() + "</ListBucketResult>")
  }

  // MARK: Uploads in parts

  private func listUploads(_ call: FakeS3Request, _ state: State) -> HTTPServerResponse {
    let (prefix, start) = (call.query["prefix"] ?? "", call.query["upload-id-marker"] ?? "")
    let uploads = state.uploads.filter { $0.key > start && $0.value.key.hasPrefix(prefix) }
      .sorted { $0.key < $1.key }
    let page = uploads.prefix(defects.pageLength)
    let list = page.map { id, upload in
      "<Upload><Key>\(S3Encoding.encodePath(upload.key))</Key><UploadId>\(id)</UploadId>"
        + "<Initiated>\(UTCTime(secondsSince1970: upload.begunAt.timeIntervalSince1970))</Initiated></Upload>"
    }
    return .document(
      "<ListMultipartUploadsResult><IsTruncated>\(page.count < uploads.count)</IsTruncated>"
        + "<NextKeyMarker>\(S3Encoding.encodePath(page.last?.value.key ?? ""))</NextKeyMarker>"
        + "<NextUploadIdMarker>\(page.last?.key ?? "")</NextUploadIdMarker>"
        + "\(list.joined())</ListMultipartUploadsResult>")
  }

  private func beginUpload(_ call: FakeS3Request, _ state: inout State) -> HTTPServerResponse {
    let id = UUID().uuidString
    state.uploads[id] = (call.key, Date(), [:])
    return .document(
      "<InitiateMultipartUploadResult><UploadId>\(id)</UploadId></InitiateMultipartUploadResult>")
  }

  private func uploadPart(_ call: FakeS3Request, _ state: inout State) -> HTTPServerResponse {
    let id = call.query["uploadId"] ?? ""
    guard let number = call.query["partNumber"].flatMap({ Int($0) }), state.uploads[id] != nil else {
      return .error(404, "NoSuchUpload")
    }
    let part = Object(call.body)
    state.uploads[id]?.parts[number] = part
    return HTTPServerResponse(status: .ok, headerFields: [.eTag: "\"\(part.etag)\""])
  }

  private func listParts(_ call: FakeS3Request, _ state: State) -> HTTPServerResponse {
    guard let upload = state.uploads[call.query["uploadId"] ?? ""] else { return .error(404, "NoSuchUpload") }
    let start = call.query["part-number-marker"].flatMap { Int($0) } ?? 0
    let parts = upload.parts.filter { $0.key > start }.sorted { $0.key < $1.key }
    let page = parts.prefix(defects.pageLength)
    let list = page.map {
      "<Part><PartNumber>\($0.key)</PartNumber><ETag>\"\($0.value.etag)\"</ETag>"
        + "<Size>\($0.value.bytes.count)</Size></Part>"
    }
    return .document(
      "<ListPartsResult><IsTruncated>\(page.count < parts.count)</IsTruncated>"
        + "<NextPartNumberMarker>\(page.last?.key ?? 0)</NextPartNumberMarker>\(list.joined())</ListPartsResult>"
    )
  }

  private func completeUpload(_ call: FakeS3Request, _ state: inout State) -> HTTPServerResponse {
    let id = call.query["uploadId"] ?? ""
    guard let upload = state.uploads[id] else { return .error(404, "NoSuchUpload") }
    let text = String(decoding: call.body, as: UTF8.self)
    let named = text.matches(of: /<PartNumber>(\d+)<\/PartNumber><ETag>"([0-9a-f]+)"/).map {
      (Int($0.output.1) ?? 0, String($0.output.2))
    }
    if defects.wantsAllParts, named.count != upload.parts.count { return .error(400, "InvalidPart") }
    let parts = named.compactMap { number, etag in
      upload.parts[number].flatMap { $0.etag == etag ? $0.bytes : nil }
    }
    guard !parts.isEmpty, parts.count == named.count else {
      // The status is sent before the error is known.
      return .document("<Error><Code>InvalidPart</Code><RequestId>fake</RequestId></Error>")
    }
    state.uploads[id] = nil
    state.objects[call.key] = Object(parts.reduce(into: Data()) { $0.append($1) })
    return .document("<CompleteMultipartUploadResult/>")
  }
}

extension HTTPServerResponse {
  /// The same response, which calls `interruption` after `count` bytes of its body.
  fileprivate func interrupted(
    after count: Int, _ interruption: @escaping @Sendable () async throws -> Void
  ) -> Self {
    guard case .bytes(let bytes) = body, count < bytes.count else { return self }
    let pieces = Lock([Array(bytes[..<count]), Array(bytes[count...])])
    var response = self
    response.body = .stream(length: Int64(bytes.count)) {
      let (piece, left) = pieces.withLock { ($0.isEmpty ? nil : $0.removeFirst(), $0.count) }
      if piece != nil, left == 0 { try await interruption() }
      return piece
    }
    return response
  }

  fileprivate static func document(_ text: String) -> Self {
    HTTPServerResponse(
      status: .ok, headerFields: [.contentType: "application/xml"],
      body: .bytes(Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\(text)".utf8)))
  }

  fileprivate static func error(_ status: Int, _ code: String) -> Self {
    var response = document(
      "<Error><Code>\(code)</Code><Message>for the test</Message><RequestId>fake</RequestId></Error>")
    response.status = .init(code: status)
    return response
  }
}
