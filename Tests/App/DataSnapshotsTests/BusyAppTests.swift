import DataSnapshots
import Foundation
import Repositories
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// An app that records, replays, updates its repositories and activates snapshots at the same time and from many
/// threads.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct BusyAppTests {
  /// The app's data. Both columns are always equal, so that a partial change is noticed.
  private struct Ledger: Codable, Hashable, Sendable {
    var left = 0
    var right = 0

    static let rules = Validator<Ledger>("columns differ") { $0.left == $0.right }
  }

  private struct Entry: Codable, Hashable, Sendable, Identifiable {
    let id: Int
    var changes = 0
  }

  /// The number of attempted updates.
  private final class Tally: Sendable {
    let made = Lock(0)
    let refused = Lock(0)
  }

  /// The concurrent activities. Each continues until all of them have done their minimum.
  private final class Roles: Sendable {
    private let busy: Lock<Int>

    init(_ count: Int) { busy = Lock(count) }

    /// Runs an activity on its own thread.
    func thread(_ share: Int, _ work: @escaping @Sendable (_ round: Int) throws -> Void) async throws {
      try await DispatchQueue(label: "role").perform { [self] in
        var round = 0
        do { while goesOn(share, &round) { try work(round) } } catch { throw giveUp(error) }
      }
    }

    /// Runs an asynchronous activity.
    func task(_ share: Int, _ work: (_ round: Int) async throws -> Void) async throws {
      var round = 0
      do { while goesOn(share, &round) { try await work(round) } } catch { throw giveUp(error) }
    }

    /// The other activities do not wait for one that failed.
    private func giveUp(_ error: any Error) -> any Error {
      busy.set(.min / 2)
      return error
    }

    private func goesOn(_ share: Int, _ round: inout Int) -> Bool {
      round += 1
      if round == share + 1 { busy.add(-1) }
      return round <= share || busy.value > 0
    }
  }

  private static let identifiers = ["a", "b", "c", "d"]
  private static let versions = 20

  private let app: SampleApp

  init() throws { app = try SampleApp() }

  /// Bundles of the versions from 0 on. Each recording contains its version, and so does the manifest.
  private func bundles() throws -> [URL] {
    try (0...Self.versions).map { version in
      var author = app
      author.configuration.application = .init(identifier: "news", version: "\(version)", build: "1")
      let recordings = Self.identifiers.map { ($0, "\($0) \(version)") }
      return try author.bundle("\(version)", Dictionary(uniqueKeysWithValues: recordings))
    }
  }

  /// Live data that repeats its source in each line, so that mixed data is noticed.
  private static func live(_ identifier: String, _ round: Int) -> String {
    String(repeating: "live \(identifier) \(round)\n", count: 100)
  }

  private static func version(_ mode: SnapshotMode) throws -> Int {
    let version = try #require(mode.activeManifest?.application.version)
    return try #require(Int(version))
  }

  /// Processes data, and checks that the result is the live data or belongs to a snapshot that was active during the
  /// call.
  private static func call(_ mode: SnapshotMode, _ round: Int) throws {
    let identifier = identifiers[round % identifiers.count]
    let live = live(identifier, round)
    let earliest = try version(mode)
    let answer = mode.process(live, identifier)
    let latest = try version(mode)
    #expect(earliest <= latest)
    if answer != live {
      #expect((earliest...latest).contains { answer == "\(identifier) \($0)" }, "\(answer.prefix(40))")
    }
  }

  @Test func `recording, replaying, updating and activating at once never mix old and new`() async throws {
    let mode = app.launch()
    let bundles = try bundles()
    try await mode.activate(bundle: bundles[0])
    let ledgerFile = app.temporary.file("ledger.json")
    let ledger = ValueRepository(
      Ledger(), storage: InMemoryStorageWithFilePersistence(file: ledgerFile), validators: [Ledger.rules])
    let entriesFile = app.temporary.file("entries.json")
    let entries = CollectionRepository<Entry>(storage: FileStorage(file: entriesFile))
    try entries.insert(contentsOf: (0..<4).map { Entry(id: $0) })
    let (tally, temporary) = (Tally(), app.temporary)

    let observer = Task {
      var last = 0
      for await value in ledger.values {
        #expect(value.left == value.right && value.left >= last)
        last = value.left
      }
    }
    let roles = Roles(9)
    try await withThrowingTaskGroup(of: Void.self) { group in
      // Record and replay, depending on the state that is set below.
      for _ in 0..<3 {
        group.addTask { try await roles.thread(150) { try Self.call(mode, $0) } }
      }
      group.addTask {
        try await roles.task(100) { round in
          let live = Self.live("a", round)
          let answer = try await mode.process("a") { () async throws in Data(live.utf8) }
          #expect(answer == Data(live.utf8) || answer.starts(with: Data("a ".utf8)))
        }
      }
      group.addTask {
        try await roles.task(60) { round in
          mode.state = round.isMultiple(of: 3) ? .recording : .replaying
          if round.isMultiple(of: 20) { mode.state = .disabled }
          // Lets the other activities use the disk.
          await mode.flush()
        }
      }
      // Activate, one version after the other.
      group.addTask {
        try await roles.task(Self.versions) { round in
          try await mode.activate(bundle: bundles[min(round, Self.versions)])
        }
      }
      // Update.
      for number in 0..<2 {
        group.addTask {
          try await roles.thread(100) { round in
            do {
              try ledger.update { copy in
                copy.left += 1
                if !round.isMultiple(of: 3) { copy.right += 1 }
              }
              tally.made.add(1)
            } catch is ValidationError {
              tally.refused.add(1)
            }
            try entries.update((round + number) % 4) { $0.changes += 1 }
            let value = ledger.value
            #expect(value.left == value.right)
          }
        }
      }
      // Make snapshots of all data.
      group.addTask {
        try await roles.task(8) { round in
          let zip = temporary.file("made-\(round % 2).zip")
          let packed = try await mode.makeSnapshot(to: zip)
          #expect(try SnapshotBundle.validate(zip: zip, depth: .full) == packed.manifest)
          _ = await mode.report()
        }
      }
      try await group.waitForAll()
    }
    observer.cancel()
    await observer.value

    #expect(try Self.version(mode) == Self.versions)
    let next = app.launch()
    #expect(try Self.version(next) == Self.versions)
    try await next.deactivate()
    next.state = .replaying
    for identifier in Self.identifiers {
      let lines = next.process("none", identifier).split(separator: "\n")
      #expect(lines.count == 100 && Set(lines).count == 1 && lines[0].hasPrefix("live \(identifier) "))
    }
    let (made, refused) = (tally.made.value, tally.refused.value)
    #expect(made > 0 && refused > 0)
    #expect(ledger.value == Ledger(left: made, right: made))
    try await ledger.flush()
    #expect(ValueRepository(Ledger(), storage: FileStorage(file: ledgerFile)).value == ledger.value)
    #expect(entries.all.map(\.changes).reduce(0, +) == made + refused)
    #expect(CollectionRepository<Entry>(storage: FileStorage(file: entriesFile)).all == entries.all)
    #expect(app.events.all.isEmpty)
  }
}
