import DataSnapshots
import Foundation
import HTTPEngine
import Logging
import SnapshotClient
import SnapshotFormat
import SnapshotServer
import SnapshotSettings
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// A snapshot server in this process, with stores in memory.
final class SampleServer: Sendable {
  let url: URL
  private let application: ServerApplication

  init() async throws {
    application = ServerApplication(
      ServerSettings(port: 0), storage: ServerStorage(InMemoryStore(), catalog: InMemoryCatalog()),
      logger: .quiet)
    let address = try await application.start()
    url = try #require(URL(string: "http://\(address)"))
  }

  func stop() async { await application.close() }
}

/// A weather app with Beta Settings. It shows the data that its ``SnapshotMode`` returns.
struct SampleApp: Sendable {
  let temporary: TemporaryFolder
  let mode: SnapshotMode
  let client: SnapshotAPIClient
  let uploads: SampleUploads
  var settings: BetaSettings

  init(
    server: URL, in temporary: TemporaryFolder? = nil, sealing: SnapshotMode.Sealing? = nil,
    identities: [SealingIdentity] = []
  ) throws {
    let temporary = try temporary ?? TemporaryFolder()
    self.temporary = temporary
    var configuration = SnapshotMode.Configuration()
    configuration.application = .init(identifier: "com.example.weather", version: "3.1", build: "7")
    configuration.device = .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.0", locale: "de_AT")
    configuration.sealing = sealing
    // Writes that are pending when a test ends keep the folder.
    configuration.onEvent = { _ in withExtendedLifetime(temporary) {} }
    mode = SnapshotMode(folder: temporary.file("snapshots"), configuration: configuration)
    mode.register(module: "Forecast", files: ["forecast/today", "forecast/week"])
    mode.register(module: "Account", files: ["user/profile"])
    var clientConfiguration = SnapshotAPIClient.Configuration()
    clientConfiguration.retries.attempts = 1
    client = try SnapshotAPIClient(server: server, configuration: clientConfiguration)
    uploads = SampleUploads(mode: mode, client: client, folder: temporary)
    var settingsConfiguration = BetaSettings.Configuration()
    settingsConfiguration.identities = { identities }
    settings = BetaSettings(
      mode: mode, client: client, uploads: uploads.functions, folder: temporary.file("settings"),
      configuration: settingsConfiguration)
  }

  /// The same app with a real ``BugReporter``; the test must close its queue.
  func reporting(_ configuration: UploadQueue.Configuration = .init()) throws -> (SampleApp, UploadQueue) {
    let reporter = try BugReporter(
      queue: temporary.file("queue"), client: client, configuration: configuration
    ) { [mode] bug, zip in
      try await mode.makeSnapshot(for: bug, to: zip)
    }
    var app = self
    app.settings = BetaSettings(
      mode: mode, client: client, reporter: reporter, folder: temporary.file("settings"))
    return (app, reporter.queue)
  }

  /// Returns the app's data for `operation` when the live service returns `live`.
  @discardableResult
  func show(_ operation: String, live: String) -> String {
    String(decoding: mode.process(data: Data(live.utf8), uniqueIdentifier: operation), as: UTF8.self)
  }

  /// Records all files of the modules.
  func recordAll() {
    settings.state = .recording
    for operation in ["forecast/today", "forecast/week", "user/profile"] { show(operation, live: "sunny") }
  }
}

/// Completes uploads immediately, and records them.
final class SampleUploads: Sendable {
  private let mode: SnapshotMode
  private let client: SnapshotAPIClient
  private let folder: TemporaryFolder
  let list = Lock<[BetaSettings.Upload]>([])
  let retried = Lock<[SnapshotID]>([])

  init(mode: SnapshotMode, client: SnapshotAPIClient, folder: TemporaryFolder) {
    (self.mode, self.client, self.folder) = (mode, client, folder)
  }

  var functions: BetaSettings.Uploads {
    BetaSettings.Uploads(
      attach: { [self] bug in
        let report = bug.report
        let zip = folder.file("\(SnapshotID()).zip")
        let packed = try await mode.makeSnapshot(for: bug, to: zip)
        let record = try await client.attach(zip, to: report, as: packed.manifest.id)
        list.withLock { list in
          list.insert(
            .init(
              id: record.id, report: report, size: record.size, attachedAt: record.receivedAt, state: .done,
              canRetry: false),
            at: 0)
        }
        return record.id
      },
      list: { [self] in list.withLock { $0 } },
      retry: { [self] id in retried.withLock { $0.append(id) } },
      remove: { [self] id in list.withLock { list in list.removeAll { $0.id == id } } })
  }
}

/// A failure with a description.
struct SampleFailure: Error, CustomStringConvertible {
  let description: String
}
