import Foundation
import HTTPClient
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import SystemIO
import TestSupport

/// Records waits without waiting.
final class SleepLog: Sendable {
  private let state = Lock([Duration]())

  var seconds: [Double] { state.withLock { $0.map { $0 / .seconds(1) } } }

  func record(_ duration: Duration) { state.withLock { $0.append(duration) } }
}

/// Collects the progress of a transfer.
final class ProgressLog: Sendable {
  private let state = Lock([TransportProgress]())

  var states: [TransportProgress] { state.withLock { $0 } }

  func record(_ progress: TransportProgress) { state.withLock { $0.append(progress) } }
}

/// A transport that returns given responses in order, and records the requests.
final class FakeTransport: Transport {
  typealias Answer = Result<TransportResponse, TransportError>

  private let state: Lock<(answers: [Answer], requests: [HTTPRequest])>

  init(_ answers: [Answer]) { state = Lock((answers, [])) }

  var requests: [HTTPRequest] { state.withLock { $0.requests } }

  func send(
    _ request: HTTPRequest, body: TransportBody, destination: TransportDestination,
    timeouts: TransportTimeouts,
    events: (@Sendable (TransportEvent) -> Void)?
  ) async throws(TransportError) -> TransportResponse {
    let answer = state.withLock { state -> Answer in
      state.requests.append(request)
      return state.answers.isEmpty ? .failure(.interrupted("no further answer")) : state.answers.removeFirst()
    }
    return try answer.get()
  }
}

extension FakeTransport.Answer {
  /// A response. A failure without a body gets a problem of the server.
  static func status(_ code: Int, _ fields: HTTPFields = [:], body: Data = Data()) -> Self {
    guard code >= 400, body.isEmpty else { return foreign(code, fields, body: body) }
    var fields = fields
    fields[.contentType] = "application/problem+json"
    return foreign(code, fields, body: Data(ServerRefusal.problem.utf8))
  }

  /// A response exactly as given.
  static func foreign(_ code: Int, _ fields: HTTPFields = [:], body: Data = Data()) -> Self {
    .success(
      TransportResponse(head: HTTPResponse(status: .init(code: code), headerFields: fields), body: body))
  }
}

extension SnapshotAPIClient.Configuration {
  /// A configuration without real waits; random numbers are 0 by default.
  static func forTests(
    sleeps: SleepLog = SleepLog(), now: Date = Date(timeIntervalSince1970: 784_111_777), random: Double = 0
  ) -> Self {
    var configuration = Self()
    configuration.environment = ClientEnvironment(
      now: { now }, sleep: { sleeps.record($0) }, random: { random })
    return configuration
  }
}

/// How a snapshot server refuses a request.
enum ServerRefusal {
  static let problem = #"{"type": "urn:data-snapshots:problem:test", "title": "Refused"}"#
  static let contentType = "Content-Type: application/problem+json"
}

extension ScriptedConnection {
  /// Answers as a snapshot server that refuses the request.
  func refuse(_ status: String) throws {
    try respond(status, [ServerRefusal.contentType], body: ServerRefusal.problem.utf8)
  }
}

/// Makes a record of a bundle with `contents`.
func makeRecord(
  _ contents: Data, id: SnapshotID = SnapshotID(), report: String = "BUG-1"
) throws -> SnapshotRecord {
  let manifest = Manifest(
    id: id, createdAt: Date(timeIntervalSince1970: 1_700_000_000),
    application: .init(identifier: "com.example.news", version: "3.1.4", build: "159"),
    device: .init(model: "x86_64", system: "Linux", systemVersion: "6.1", locale: "de_AT"))
  return SnapshotRecord(
    id: id, report: try ReportID(validating: report), size: Int64(contents.count), sha256: .of(contents),
    receivedAt: Date(timeIntervalSince1970: 1_700_000_001), verified: .intact, manifest: manifest)
}

/// The header field with the digest of `contents`.
func digestField(_ contents: Data) -> String {
  "Repr-Digest: sha-256=:\(Data(ContentDigest.of(contents).bytes).base64EncodedString()):"
}
