import Foundation
import HTTPClient
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing
import Webhooks

/// Webhooks over a store in memory, an outbox in a file, and a clock that tests set.
final class WebhookFixture: Sendable {
  static let secrets = [1, 2].map { "whsec_" + Data(repeating: $0, count: 32).base64EncodedString() }

  let folder: TemporaryFolder
  let store: InMemoryStore
  let clock: Lock<Date>
  /// The addresses of every name; `nil` asks the system.
  let addresses: Lock<[String]?>
  let webhooks: Webhooks

  var now: Date { clock.withLock { $0 } }

  init(in folder: TemporaryFolder? = nil, waitingLimit: Int = WebhookLimits.waitingPerEndpoint) throws {
    let folder = try folder ?? TemporaryFolder()
    let (clock, addresses) = (Lock(Date(timeIntervalSince1970: 1_790_000_000)), Lock<[String]?>(nil))
    let store = InMemoryStore(validator: UploadValidator(validate: SampleBundle.validate))
    (self.folder, self.store, self.clock, self.addresses) = (folder, store, clock, addresses)
    let path = folder.file("webhooks.sqlite").path
    var environment = Webhooks.Environment(transport: SystemTransport()) {
      try SQLiteOutbox(path: path, waitingLimit: waitingLimit)
    }
    environment.now = { clock.withLock { $0 } }
    environment.resolve = { host in
      try addresses.withLock { $0 }?.compactMap(IPAddress.init) ?? HostResolver.addresses(of: host)
    }
    webhooks = Webhooks(environment, store: store, logger: .quiet)
  }

  /// Settings with endpoints on these ports of loopback, which are allowed.
  func settings(
    _ ports: UInt16..., secrets: [String] = [WebhookFixture.secrets[0]], path: String = "/hook"
  ) throws -> WebhookSettings {
    var settings = WebhookSettings()
    settings.endpoints = try ports.map { try #require(WebhookEndpoint("http://127.0.0.1:\($0)\(path)")) }
    settings.secretFile = try folder.write(Data(secrets.joined(separator: "\n").utf8), to: "secrets").path
    settings.allowedNetworks = [try #require(AddressBlock("127.0.0.0/8"))]
    return settings
  }

  func use(_ settings: WebhookSettings) async throws {
    let apply = try webhooks.prepare(settings)
    await apply()
  }

  func advance(_ seconds: Double) { clock.withLock { $0 += seconds } }

  /// A record that was received now.
  func record(
    _ report: String = "BUG-1", metadata: [String: String] = [:],
    alter: (inout SnapshotRecord) -> Void = { _ in }
  ) throws -> SnapshotRecord {
    let id = SnapshotID()
    let manifest = Manifest(
      id: id, createdAt: now,
      application: .init(identifier: "com.example.news", version: "3.1.4", build: "15"),
      device: .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.1", locale: "de_AT"),
      modules: [Module(name: "News", files: ["feed"])], recordings: [])
    var record = SnapshotRecord(
      id: id, report: try ReportID(validating: report), size: 10, sha256: .of([1]), receivedAt: now,
      verified: .intact, manifest: manifest, metadata: metadata)
    alter(&record)
    return record
  }

  /// The state of the only endpoint.
  func state() async throws -> WebhookEndpointState { try #require(try await webhooks.states().first?.state) }
}
