import Foundation
import SnapshotFormat
import SystemIO
import TestSupport

/// A server that supports resumable uploads (draft-ietf-httpbis-resumable-upload, interop version 8), stores all
/// received bytes, and can simulate faults.
final class DraftServer: Sendable {
  /// A fault in the processing of one request.
  enum Fault: Sendable {
    /// Reads the body and sends this response.
    case answer(String, [String] = [], body: String = "")
    /// Processes the request, but does not send the response.
    case loseAnswer
    /// Reads this number of bytes of the body, and closes the connection.
    case cut(afterBodyBytes: Int)
  }

  /// The server's behavior.
  struct Manner: Sendable {
    /// Whether the server supports resumable uploads. If not, it treats each body as a complete bundle.
    var offers = true
    /// The response of a server without support to an empty bundle.
    var refusalOfNothing = "400 Bad Request"
    var limits = "max-size=1000000000"
    /// Returns the `Location` of a new upload.
    var location: @Sendable (String) -> String = { $0 }
    /// The number of bytes of a body after which it reports its progress in a 104 response.
    var progressBytes: Int?
    /// The progress that it reports, if not the actual one.
    var claimedProgress: Int?
    /// The maximum size of a body that the proxy in front of it forwards.
    var longestBody = Int.max
    /// The report in its records, if not the requested one.
    var report: String?
    /// The response to a complete upload, if not a success.
    var refusal: (status: String, body: String)?
  }

  struct Upload: Sendable {
    var target: String
    var length: Int
    var data = Data()
    var isComplete = false
    /// The number of the latest request for the upload. Bytes of earlier requests are discarded.
    var turn = 0
  }

  fileprivate struct State: Sendable {
    var manner: Manner
    var uploads: [String: Upload] = [:]
    var count = 0
    var faults: [String: [Fault]] = [:]
    var received: [Int] = []
    var attached: [String: Data] = [:]
  }

  /// Outlives the listener, because the connections' threads own it.
  fileprivate final class Core: Sendable {
    typealias Answer = (status: String, fields: [String], body: String)

    let state: Lock<State>

    init(_ manner: Manner) { state = Lock(State(manner: manner)) }
  }

  private let core: Core
  let scripted: ScriptedServer

  init(_ change: (inout Manner) -> Void = { _ in }) throws {
    var manner = Manner()
    change(&manner)
    let core = Core(manner)
    self.core = core
    scripted = try ScriptedServer { connection in
      while try core.answer(connection) {}
    }
  }

  var url: URL { scripted.url }
  /// `method target` of each request.
  var requests: [ScriptedRequest] { scripted.requests }
  var methods: [String] { requests.map(\.method) }
  /// The number of bytes of each piece, ordered by the time of completion.
  var received: [Int] { core.state.withLock { $0.received } }
  /// The attached bundles, by the target of the request that created them.
  var attached: [String: Data] { core.state.withLock { $0.attached } }
  var uploads: [String: Upload] { core.state.withLock { $0.uploads } }

  /// Applies these faults to the next requests with this method, in order.
  func fail(_ method: String, _ faults: Fault...) {
    core.state.withLock { $0.faults[method, default: []] += faults }
  }

  func change(_ change: (inout Manner) -> Void) { core.state.withLock { change(&$0.manner) } }

  /// Removes all incomplete uploads.
  func forget() { core.state.withLock { $0.uploads = [:] } }
}

extension DraftServer.Core {
  /// Responds to one request. Returns `false` if the connection must be closed.
  fileprivate func answer(_ connection: ScriptedConnection) throws -> Bool {
    let head = try connection.readHead()
    let (manner, fault) = state.withLock { state in
      let fault = state.faults[head.method]?.first
      if fault != nil { state.faults[head.method]?.removeFirst() }
      return (state.manner, fault)
    }
    let length = head["content-length"].flatMap { Int($0) } ?? 0
    if length > manner.longestBody {
      try write("413 Content Too Large", ["Connection: close"], "<html>", to: connection)
      try connection.linger()
      return false
    }
    if head["expect"] != nil { try connection.write("HTTP/1.1 100 Continue\r\n\r\n") }
    if case .answer(let status, let fields, let body) = fault {
      try connection.readBody(length) { _ in }
      try write(status, fields, body, to: connection, hasBody: head.method != "HEAD")
      return true
    }
    var cut: Int?
    if case .cut(let count) = fault { cut = min(length, count) }
    let answer: Answer
    if head.target.hasPrefix("/v1/uploads/") {
      answer = try continueUpload(head, connection, length, cut: cut, manner)
    } else if manner.offers, head["upload-complete"] == "?0" {
      answer = open(head, manner)
    } else {
      answer = try attachAtOnce(head, connection, length, manner)
    }
    if case .cut = fault {
      connection.reset()
      return false
    }
    if case .loseAnswer = fault {
      connection.reset()
      return false
    }
    try write(
      answer.status, answer.fields, answer.body, to: connection, hasBody: head.method != "HEAD")
    return true
  }

  private func open(_ head: ScriptedRequest, _ manner: DraftServer.Manner) -> Answer {
    let place = state.withLock { state in
      state.count += 1
      let place = "/v1/uploads/\(state.count)"
      state.uploads[place] = DraftServer.Upload(
        target: head.target, length: Int(head["upload-length"] ?? "") ?? 0)
      return place
    }
    return (
      "201 Created",
      ["Location: \(manner.location(place))", "Upload-Limit: \(manner.limits)", "Upload-Complete: ?0"], ""
    )
  }

  private func continueUpload(
    _ head: ScriptedRequest, _ connection: ScriptedConnection, _ length: Int, cut: Int?,
    _ manner: DraftServer.Manner
  ) throws -> Answer {
    let known = state.withLock { state in
      state.uploads[head.target]?.turn += 1
      return state.uploads[head.target]
    }
    guard let upload = known else {
      try connection.readBody(length) { _ in }
      return ("404 Not Found", [], "")
    }
    let offset = "Upload-Offset: \(upload.data.count)"
    if head.method == "HEAD" {
      return (
        "204 No Content",
        [offset, "Upload-Complete: ?\(upload.isComplete ? 1 : 0)", "Upload-Length: \(upload.length)"], ""
      )
    }
    if upload.isComplete, length == 0 { return try outcome(of: upload, manner) }
    guard head["upload-offset"] == "\(upload.data.count)" else {
      try connection.readBody(length) { _ in }
      return ("409 Conflict", [offset, "Upload-Complete: ?0"], "")
    }
    try receive(cut ?? length, from: connection, into: head.target, upload.turn, manner)
    guard cut == nil else { return ("500 Never sent", [], "") }
    let now = state.withLock { state in
      let isLatest = state.uploads[head.target]?.turn == upload.turn
      if isLatest, head["upload-complete"] == "?1" { state.uploads[head.target]?.isComplete = true }
      return state.uploads[head.target]
    }
    guard let now, now.isComplete else { return ("204 No Content", ["Upload-Complete: ?0"], "") }
    return try outcome(of: now, manner)
  }

  private func receive(
    _ count: Int, from connection: ScriptedConnection, into place: String, _ turn: Int,
    _ manner: DraftServer.Manner
  ) throws {
    let index = state.withLock { state in
      state.received.append(0)
      return state.received.count - 1
    }
    var rest = count
    while rest > 0 {
      let part = min(rest, manner.progressBytes ?? rest)
      try connection.readBody(part) { piece in
        state.withLock { state in
          guard state.uploads[place]?.turn == turn else { return }
          state.uploads[place]?.data.append(contentsOf: piece)
          state.received[index] += piece.count
        }
      }
      rest -= part
      guard manner.progressBytes != nil else { continue }
      try connection.write(
        """
        HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Draft-Interop-Version: 8\r\n\
        Upload-Offset: \(manner.claimedProgress ?? state.withLock { $0.uploads[place]?.data.count ?? 0 })\r\n\r\n
        """)
    }
  }

  private func attachAtOnce(
    _ head: ScriptedRequest, _ connection: ScriptedConnection, _ length: Int, _ manner: DraftServer.Manner
  ) throws -> Answer {
    var body = Data()
    try connection.readBody(length) { body.append(contentsOf: $0) }
    guard !body.isEmpty else { return (manner.refusalOfNothing, [], "") }
    return try attach(body, head.target, manner)
  }

  private func outcome(of upload: DraftServer.Upload, _ manner: DraftServer.Manner) throws -> Answer {
    var answer = try attach(upload.data, upload.target, manner)
    answer.fields.append("Upload-Complete: ?1")
    return answer
  }

  private func attach(_ body: Data, _ target: String, _ manner: DraftServer.Manner) throws -> Answer {
    if let refusal = manner.refusal {
      return (refusal.status, refusal.body.isEmpty ? [] : [ServerRefusal.contentType], refusal.body)
    }
    let id = target.split(separator: "/").last.flatMap { SnapshotID(String($0)) }
    state.withLock { $0.attached[target] = body }
    let report = manner.report ?? String(target.split(separator: "/")[2])
    let record = try makeRecord(body, id: id ?? SnapshotID(), report: report)
    return ("201 Created", [], String(decoding: try SnapshotJSON.encode(record), as: UTF8.self))
  }

  /// Writes a response. A failure without a body gets a problem of the server.
  private func write(
    _ status: String, _ fields: [String], _ body: String, to connection: ScriptedConnection,
    hasBody: Bool = true
  ) throws {
    var (fields, body) = (fields, body)
    if status >= "400", body.isEmpty {
      fields.append(ServerRefusal.contentType)
      body = ServerRefusal.problem
    }
    let length = status.hasPrefix("204") ? [] : ["Content-Length: \(body.utf8.count)"]
    let lines = ["HTTP/1.1 \(status)"] + length + fields
    try connection.write(lines.joined(separator: "\r\n") + "\r\n\r\n" + (hasBody ? body : ""))
  }
}
