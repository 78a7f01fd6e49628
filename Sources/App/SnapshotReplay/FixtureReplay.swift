import DataSnapshots
import Dispatch
import Foundation
import SnapshotFormat
import SystemIO

/// The replay of one fixture for one test. It has a folder and a mode of its own, which no other test uses.
final class FixtureReplay: Sendable {
  /// The maximum number of different misses that are described.
  static let mostMisses = 20
  /// Unpacks fixtures, so that the threads of Swift's concurrency don't wait for the disk.
  private static let queue = DispatchQueue(label: "snapshot-replay.fixtures", qos: .userInitiated)

  let mode: SnapshotMode
  let fixture: ReplayFixture
  let manifest: Manifest
  /// Why the fixture is too old, if it is.
  let ageProblem: ReplayError?
  private let snapshot: URL
  private let scratch: URL
  private let missed: MissedCalls

  /// Opens `fixture` in a folder of its own.
  static func open(
    _ fixture: ReplayFixture, _ settings: ReplaySettings, at date: Date = Date()
  ) async throws(ReplayError) -> FixtureReplay {
    try await queue.perform { () throws(ReplayError) in try FixtureReplay(fixture, settings, date) }
  }

  private init(_ fixture: ReplayFixture, _ settings: ReplaySettings, _ date: Date) throws(ReplayError) {
    self.fixture = fixture
    scratch = FileManager.default.temporaryDirectory.appending(path: "snapshot-replay-\(UUID().uuidString)")
    let missed = MissedCalls()
    self.missed = missed
    (snapshot, manifest) = try fixture.unpack(into: scratch)
    ageProblem = settings.ageProblem(of: manifest, fixture.location, at: date)
    do {
      mode = try SnapshotMode(replaying: snapshot, configuration: settings.configuration(missed.add))
    } catch {
      throw ReplayError(.fixtureRefused, "The fixture \(fixture.location.path) can't be replayed: \(error)")
    }
  }

  deinit {
    // A folder that can't be removed is in the system's folder for temporary files.
    do throws(SystemError) { try Folder.removeTree(scratch.path) } catch {}
  }

  /// Runs a test, with the mode as ``/DataSnapshots/SnapshotMode/current``.
  func run<Value>(_ body: (SnapshotMode) async throws -> Value) async -> Result<Value, any Error> {
    do {
      return .success(try await SnapshotMode.$current.withValue(mode) { try await body(mode) })
    } catch {
      return .failure(error)
    }
  }

  /// The calls without recording, in their order. Each identifier is described once.
  var misses: [ReplayMiss] {
    missed.all.map { event in ReplayMiss(event, fixture.name, manifest, in: snapshot) }
  }

  /// Whether the app worked with data of the recording and never asked for its time.
  var ignoredClock: Bool { get async { await mode.report().wasClockAsked == false } }

  /// What the developer is told then.
  static let clockHint =
    "The app never asked for the time of the recording (mode.now); pass expectsClock: false if it does not use dates."
}

/// Collects misses from any thread.
private final class MissedCalls: Sendable {
  private let events = Lock<[SnapshotMode.Event]>([])

  @Sendable func add(_ event: SnapshotMode.Event) {
    events.withLock { events in
      guard events.count < FixtureReplay.mostMisses,
        !events.contains(where: { $0.identifier == event.identifier && $0.kind == event.kind })
      else { return }
      events.append(event)
    }
  }

  var all: [SnapshotMode.Event] { events.withLock { $0 } }
}
