import Foundation
import HTTPTransport
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import Synchronization
import TestSupport

/// Records waits without waiting.
final class SleepLog: Sendable {
  private let state = Mutex([Duration]())

  var seconds: [Double] { state.withLock { $0.map { $0 / .seconds(1) } } }

  func note(_ duration: Duration) { state.withLock { $0.append(duration) } }
}

/// A transport that returns given responses in order, and records the requests.
final class FakeTransport: Transport {
  typealias Answer = Result<TransportResponse, TransportError>

  private let state: Mutex<(answers: [Answer], requests: [HTTPRequest])>

  init(_ answers: [Answer]) { state = Mutex((answers, [])) }

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
  static func status(_ code: Int, _ fields: HTTPFields = [:], body: Data = Data()) -> Self {
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
      now: { now }, sleep: { sleeps.note($0) }, random: { random })
    return configuration
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
