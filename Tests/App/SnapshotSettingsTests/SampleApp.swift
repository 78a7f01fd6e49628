import DataSnapshots
import Foundation
import HTTPEngine
import Logging
import SnapshotAPI
import SnapshotClient
import SnapshotFormat
import SnapshotServer
import SnapshotSettings
import SnapshotStore
import StoreTesting
import Synchronization
import TestSupport
import Testing

/// A snapshot server in this process, over stores in memory.
final class SampleServer: Sendable {
  let url: URL
  private let server: HTTPServer

  init() async throws {
    let handler = SnapshotHandler(
      SnapshotService(store: InMemoryStore(), catalog: InMemoryCatalog()), logger: .silent)
    server = HTTPServer(configuration: .init(port: 0), handler: handler, logger: .silent)
    let address = try await server.start()
    url = try #require(URL(string: "http://\(address)"))
  }

  func stop() async { await server.shutdown(deadline: .zero) }
}

extension Logger {
  /// A logger that keeps nothing.
  static var silent: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}

/// A weather app with Beta Settings: what it shows is what passes through its ``SnapshotMode``.
struct SampleApp: Sendable {
  let temporary: TemporaryFolder
  let mode: SnapshotMode
  let client: SnapshotAPIClient
  let uploads: SampleUploads
  var settings: BetaSettings

  init(server: URL) throws {
    let temporary = try TemporaryFolder()
    self.temporary = temporary
    var configuration = SnapshotMode.Configuration()
    configuration.application = .init(identifier: "com.example.weather", version: "3.1", build: "7")
    configuration.device = .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.0", locale: "de_AT")
    // What is still written when a test ends holds on to the folder.
    configuration.onEvent = { _ in withExtendedLifetime(temporary) {} }
    mode = SnapshotMode(folder: temporary.file("snapshots"), configuration: configuration)
    mode.register(module: "Forecast", files: ["forecast/today", "forecast/week"])
    mode.register(module: "Account", files: ["user/profile"])
    var clientConfiguration = SnapshotAPIClient.Configuration()
    clientConfiguration.retries.attempts = 1
    client = try SnapshotAPIClient(server: server, configuration: clientConfiguration)
    uploads = SampleUploads(mode: mode, client: client, folder: temporary)
    settings = BetaSettings(
      mode: mode, client: client, uploads: uploads.functions, folder: temporary.file("settings"))
  }

  /// The same app, which sends with a real ``BugReporter``; its queue is to be closed in the end.
  func reporting(_ configuration: UploadQueue.Configuration = .init()) throws -> (SampleApp, UploadQueue) {
    let reporter = try BugReporter(
      queue: temporary.file("queue"), client: client, configuration: configuration
    ) { [mode] report, zip in try await mode.makeSnapshot(report: report, to: zip) }
    var app = self
    app.settings = BetaSettings(
      mode: mode, client: client, reporter: reporter, folder: temporary.file("settings"))
    return (app, reporter.queue)
  }

  /// What the app shows of `operation` when the live service says `live`.
  @discardableResult
  func show(_ operation: String, live: String) -> String {
    String(decoding: mode.process(data: Data(live.utf8), uniqueIdentifier: operation), as: UTF8.self)
  }

  /// Records everything that the modules want.
  func recordAll() {
    settings.state = .recording
    for operation in ["forecast/today", "forecast/week", "user/profile"] { show(operation, live: "sunny") }
  }
}

/// Uploads at once, and remembers them.
final class SampleUploads: Sendable {
  private let mode: SnapshotMode
  private let client: SnapshotAPIClient
  private let folder: TemporaryFolder
  let list = Mutex<[BetaSettings.Upload]>([])
  let retried = Mutex<[SnapshotID]>([])

  init(mode: SnapshotMode, client: SnapshotAPIClient, folder: TemporaryFolder) {
    (self.mode, self.client, self.folder) = (mode, client, folder)
  }

  var functions: BetaSettings.Uploads {
    BetaSettings.Uploads(
      attach: { [self] report in
        let zip = folder.file("\(SnapshotID()).zip")
        let packed = try await mode.makeSnapshot(report: report, to: zip)
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

/// A failure with words.
struct SampleFailure: Error, CustomStringConvertible {
  let description: String
}
