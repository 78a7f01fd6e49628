import DataSnapshots
import Foundation
import SnapshotFormat
import Synchronization
import SystemIO
import TestSupport

/// An app with a folder of its own, that can be launched again and again.
struct SampleApp {
  let temporary: TemporaryFolder
  let events = EventLog()
  var configuration = SnapshotMode.Configuration()

  /// Where the app keeps what is recorded.
  var storage: URL { temporary.file("storage") }

  static let time = Date(timeIntervalSince1970: 1_700_000_000.123)

  init() throws {
    temporary = try TemporaryFolder()
    configuration.application = .init(identifier: "com.example.news", version: "3.1", build: "7")
    configuration.device = .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.0", locale: "de_AT")
    configuration.clock = { Self.time }
    // What an app still writes when its test ends holds on to the folder until it is written.
    configuration.onEvent = { [events, temporary] event in
      withExtendedLifetime(temporary) { events.append(event) }
    }
  }

  /// A new instance on the same folder.
  func launch() -> SnapshotMode { SnapshotMode(folder: storage, configuration: configuration) }

  /// A bundle with these recordings.
  func bundle(_ name: String, _ recordings: [String: String]) throws -> URL {
    let zip = temporary.file(name + ".zip")
    let sources = try recordings.map { identifier, text in
      SnapshotBundle.Source(
        identifier: identifier,
        file: try temporary.write(Data(text.utf8), to: "sources-\(name)/\(RecordingName(identifier))"),
        recordedAt: Self.time)
    }
    let manifest = Manifest(
      id: SnapshotID(), createdAt: Self.time, application: configuration.application,
      device: configuration.device)
    _ = try SnapshotBundle.pack(sources, describedBy: manifest, to: zip)
    return zip
  }

  /// The names in a folder of the storage; none where it is not there.
  func names(in folder: String) throws -> [String] {
    let path = storage.appending(path: folder).path
    return try Folder.exists(path) ? try Folder.entries(path) : []
  }
}

/// Collects events from any thread.
final class EventLog: Sendable {
  private let events = Mutex<[SnapshotMode.Event]>([])

  func append(_ event: SnapshotMode.Event) { events.withLock { $0.append(event) } }

  /// The events so far.
  var all: [SnapshotMode.Event] { events.withLock { $0 } }
  /// What they were about.
  var kinds: [SnapshotMode.Event.Kind] { all.map(\.kind) }
}

extension SnapshotMode {
  /// Passes text.
  func process(_ text: String, _ identifier: String) -> String {
    String(decoding: process(data: Data(text.utf8), uniqueIdentifier: identifier), as: UTF8.self)
  }
}
