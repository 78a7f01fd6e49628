import DataSnapshots
import Foundation
import Redaction
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// An app with its own folder that can be launched repeatedly.
struct SampleApp {
  let temporary: TemporaryFolder
  let events = EventLog()
  private let running = Running()
  var configuration = SnapshotMode.Configuration()

  /// The folder of the recordings.
  var storage: URL { temporary.file("storage") }

  static let time = Date(timeIntervalSince1970: 1_700_000_000.123)

  init() throws {
    temporary = try TemporaryFolder()
    configuration.application = .init(identifier: "com.example.news", version: "3.1", build: "7")
    configuration.device = .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.0", locale: "de_AT")
    configuration.clock = { Self.time }
    // Writes that are pending when the test ends keep the folder until they are done.
    configuration.onEvent = { [events, temporary] event in
      withExtendedLifetime(temporary) { events.append(event) }
    }
  }

  /// Creates a new instance with the same folder. The one before is closed.
  func launch(folder: URL? = nil) -> SnapshotMode {
    running.mode.withLock { $0.take() }?.closeSynchronously()
    let mode = SnapshotMode(folder: folder ?? storage, configuration: configuration)
    running.mode.withLock { $0 = mode }
    return mode
  }

  /// The next launch finds the folder as it is when the app is killed now.
  func crash() {
    let (folder, copy) = (storage.path, temporary.file("crashed").path)
    guard let mode = running.mode.withLock({ $0.take() }) else { return }
    mode.flushSynchronously()
    do {
      // What the instance writes from now on is lost.
      try Folder.replace(copy, with: folder)
      mode.closeSynchronously()
      try Folder.removeTree(folder)
      try Folder.replace(folder, with: copy)
    } catch {
      Issue.record(error)
    }
  }

  /// The names of redaction rules.
  static func names(of rules: [RedactionRule]) -> [String] { rules.map(\.name) }

  /// Makes a bundle with these recordings.
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

  /// The names in a folder of the storage; empty if it does not exist.
  func names(in folder: String) throws -> [String] {
    let path = storage.appending(path: folder).path
    return try Folder.exists(path) ? try Folder.entries(path) : []
  }
}

/// The instance that uses the folder.
private final class Running: Sendable {
  let mode = Lock<SnapshotMode?>(nil)
}

/// Collects events from any thread.
final class EventLog: Sendable {
  private let events = Lock<[SnapshotMode.Event]>([])

  func append(_ event: SnapshotMode.Event) { events.withLock { $0.append(event) } }

  /// The events so far.
  var all: [SnapshotMode.Event] { events.withLock { $0 } }
  /// The kinds of the events so far.
  var kinds: [SnapshotMode.Event.Kind] { all.map(\.kind) }
}

extension SnapshotMode {
  /// Processes text.
  func process(_ text: String, _ identifier: String) -> String {
    String(decoding: process(data: Data(text.utf8), uniqueIdentifier: identifier), as: UTF8.self)
  }
}

extension Data {
  /// The data with equal placeholders for all secrets.
  var withUniformPlaceholders: Data { Data(Placeholders.unified(Array(self))) }
}

extension String {
  /// The text with equal placeholders for all secrets.
  var withUniformPlaceholders: String { String(decoding: Placeholders.unified(Array(utf8)), as: UTF8.self) }
}
