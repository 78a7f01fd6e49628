import FileStore
import Foundation
import S3Store
import S3Testing
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@Suite struct DeletionClockTests {
  private static let day = 86_400.0
  /// Ways in which the clock of a server is wrong.
  private static let jumps: [Double] = [12 * 365 * day, -56 * 365 * day, 1.1 * day, -1.1 * day]

  private let time = TestTime()
  private let marks: MemoryMarks

  init() { marks = MemoryMarks(time) }

  /// The clock of a server that has just been started.
  private func clock(
    newest: Date? = nil, _ configure: (inout DeletionClock.Configuration) -> Void = { _ in }
  ) -> DeletionClock {
    var configuration = time.configuration
    configuration.marks = marks
    configuration.newestRecord = { newest }
    configure(&configuration)
    return DeletionClock(configuration)
  }

  private func isBelieved(_ clock: DeletionClock) async -> Bool { await clock.read().doubt == nil }

  @Test func `the clock of a new store is believed, and its mark is saved`() async {
    let clock = clock()
    let reading = await clock.read()
    #expect(reading.time == time.now && reading.doubt == nil)
    #expect(marks.mark == ClockMark(time: time.now.timeIntervalSince1970))
    time.run(300)
    await clock.read()
    #expect(marks.saves == 1)
    time.run(300)
    await clock.read()
    #expect(marks.saves == 2 && marks.mark?.time == time.now.timeIntervalSince1970)
  }

  @Test(arguments: jumps) func `a store without a mark is judged by its newest record`(jump: Double) async {
    let newest = time.now
    #expect(await isBelieved(clock(newest: newest)))
    marks.mark = nil
    time.jump(jump)
    let clock = clock(newest: newest)
    #expect(await clock.read().doubt?.cause == .mark(newest))
    #expect(clock.doubt?.description.contains("snapshot expire --confirm") == true)
  }

  @Test(arguments: jumps, [true, false])
  func `a clock that jumps is doubted, while the server runs and over a restart`(
    jump: Double, restarts: Bool
  ) async {
    var clock = clock()
    #expect(await isBelieved(clock))
    let mark = time.now
    time.jump(jump)
    if restarts { clock = self.clock() }
    let doubt = await clock.read().doubt
    #expect(doubt?.clock == time.now && doubt?.cause == .mark(mark))
    time.run(3000)
    #expect(await clock.read().doubt == doubt)
  }

  @Test func `a server that was switched off for a month deletes again after an hour, also with restarts`()
    async
  {
    #expect(await isBelieved(clock()))
    time.jump(30 * Self.day)
    for _ in 0..<4 {
      let clock = clock()
      #expect(await !isBelieved(clock))
      for _ in 0..<14 {
        time.run(60)
        #expect(await !isBelieved(clock))
      }
      // The server is off for a minute, which does not count.
      time.jump(60)
    }
    let clock = clock()
    #expect(await !isBelieved(clock))
    time.run(240)
    #expect(await isBelieved(clock))
    #expect(marks.mark == ClockMark(time: time.now.timeIntervalSince1970))
    #expect(await isBelieved(self.clock()))
  }

  @Test func `a clock that is corrected must run for an hour too`() async {
    #expect(await isBelieved(clock()))
    time.jump(12 * 365 * Self.day)
    let clock = clock()
    for _ in 0..<59 {
      #expect(await !isBelieved(clock))
      time.run(60)
    }
    time.jump(-12 * 365 * Self.day)
    for _ in 0..<60 {
      #expect(await !isBelieved(clock))
      time.run(60)
    }
    #expect(await isBelieved(clock))
  }

  @Test func `many small jumps are a large one`() async {
    let clock = clock()
    #expect(await isBelieved(clock))
    time.jump(0.6 * Self.day)
    #expect(await isBelieved(clock))
    time.jump(0.6 * Self.day)
    #expect(await !isBelieved(clock))
  }

  @Test func `time that both clocks measure is no jump`() async {
    let clock = clock()
    #expect(await isBelieved(clock))
    time.run(100 * Self.day)
    #expect(await isBelieved(clock))
  }

  @Test func `a storage with another clock holds until both agree for an hour, in spite of a confirmation`()
    async
  {
    let clock = clock()
    marks.ahead = -2 * Self.day
    let doubt = await clock.read().doubt
    #expect(doubt?.cause == .storage(time.now - 2 * Self.day))
    for _ in 0..<200 {
      time.run(60)
      #expect(await clock.read().doubt == doubt)
    }
    await clock.confirm()
    #expect(await !isBelieved(clock))
    marks.ahead = 0
    for _ in 0..<60 {
      #expect(await !isBelieved(clock))
      time.run(60)
    }
    #expect(await isBelieved(clock))
  }

  @Test func `a confirmation is believed at once, and after a restart`() async {
    #expect(await isBelieved(clock()))
    time.jump(-100 * Self.day)
    let clock = clock()
    #expect(await !isBelieved(clock))
    await clock.confirm()
    #expect(clock.doubt == nil)
    #expect(await isBelieved(clock))
    #expect(await isBelieved(self.clock()))
  }

  @Test func `a confirmation on another server is found`() async {
    #expect(await isBelieved(clock()))
    time.jump(30 * Self.day)
    let (one, other) = (clock(), clock())
    #expect(await !isBelieved(one))
    await other.confirm()
    time.run(30)
    #expect(await isBelieved(one))
  }

  @Test func `a mark that can't be loaded holds, and one that can't be saved does not`() async {
    let failures = Lock(0)
    let clock = clock { $0.onFailure = { _ in failures.add(1) } }
    marks.isFailing = true
    guard case .unknown? = await clock.read().doubt?.cause else {
      Issue.record("\(String(describing: clock.doubt))")
      return
    }
    marks.isFailing = false
    #expect(await isBelieved(clock))
    marks.isFailing = true
    time.run(600)
    #expect(await isBelieved(clock))
    #expect(failures.value == 1)
  }

  @Test func `every change of the doubt is reported once`() async {
    let told = Lock<[ClockDoubt?]>([])
    let clock = clock { $0.onChange = { doubt in told.withLock { $0.append(doubt) } } }
    func run(_ minutes: Int) async {
      for _ in 0..<minutes {
        await clock.read()
        time.run(60)
      }
    }
    await run(10)
    time.jump(400 * Self.day)
    await run(30)
    marks.ahead = 300 * Self.day
    await run(30)
    marks.ahead = 0
    await run(70)
    let causes = told.withLock { $0 }.map { doubt in
      switch doubt?.cause {
      case .mark: "mark"
      case .storage: "storage"
      case .unknown: "unknown"
      case nil: "none"
      }
    }
    #expect(causes == ["mark", "storage", "none"])
  }

  // MARK: - Where the mark is

  private static let sample: ClockMark = {
    var mark = ClockMark(time: 1_800_000_000.5)
    mark.doubt(1_900_000_000)
    return mark
  }()

  @Test func `the mark is in a file of the storage folder, which need not be valid`() async throws {
    let folder = try TemporaryFolder()
    let file = ClockMarkFile(in: folder.path)
    #expect(try await file.load() == nil)
    let written = try await file.save(Self.sample)
    #expect(abs(written.timeIntervalSinceNow) < 60)
    #expect(try await file.load() == Self.sample && file.read() == Self.sample)
    #expect(try Folder.entries(folder.path) == ["clock"])
    for text in ["", "x", "{}", #"{"time":"x"}"#] {
      try folder.write(Data(text.utf8), to: "clock")
      #expect(try await file.load() == nil, "\(text)")
    }
  }

  @Test func `servers that share an object store share the mark, and have the store's clock`() async throws {
    try await withFakeS3 { server in
      let (one, other) = (try await S3Node(server).store, try await S3Node(server).store)
      #expect(try await one.clockMarks.load() == nil)
      let written = try await one.clockMarks.save(Self.sample)
      #expect(abs(written.timeIntervalSinceNow) < 60)
      #expect(try await other.clockMarks.load() == Self.sample)
      server.setClock(ahead: 86_400)
      #expect(try await abs(other.clockMarks.save(Self.sample).timeIntervalSinceNow - 86_400) < 60)
      server["clock"] = Data("x".utf8)
      #expect(try await other.clockMarks.load() == nil)
      await one.close()
      await other.close()
    }
  }
}

/// The clocks of a machine: one that a test can set, and a monotonic one.
final class TestTime: Sendable {
  private let state = Lock((now: 1_800_000_000.0, elapsed: 0.0))

  var now: Date { state.withLock { Date(timeIntervalSince1970: $0.now) } }

  /// Both clocks advance.
  func run(_ seconds: Double) { state.withLock { $0 = ($0.now + seconds, $0.elapsed + seconds) } }

  /// The time of day is changed.
  func jump(_ seconds: Double) { state.withLock { $0.now += seconds } }

  var configuration: DeletionClock.Configuration {
    DeletionClock.Configuration(
      now: { self.now }, elapsed: { .seconds(self.state.withLock { $0.elapsed }) })
  }
}

/// Keeps the mark in memory. Its own clock differs by ``ahead`` seconds.
private final class MemoryMarks: ClockMarkStore {
  private struct Failure: Error {}
  private struct State {
    var mark: ClockMark?
    var saves = 0
    var ahead = 0.0
    var isFailing = false
  }

  private let time: TestTime
  private let state = Lock(State())

  init(_ time: TestTime) { self.time = time }

  var saves: Int { state.withLock { $0.saves } }
  var mark: ClockMark? {
    get { state.withLock { $0.mark } }
    set { state.withLock { $0.mark = newValue } }
  }
  var ahead: Double {
    get { state.withLock { $0.ahead } }
    set { state.withLock { $0.ahead = newValue } }
  }
  var isFailing: Bool {
    get { state.withLock { $0.isFailing } }
    set { state.withLock { $0.isFailing = newValue } }
  }

  func load() async throws -> ClockMark? {
    try state.withLock { state in
      if state.isFailing { throw Failure() }
      return state.mark
    }
  }

  func save(_ mark: ClockMark) async throws -> Date {
    let now = time.now
    return try state.withLock { state in
      if state.isFailing { throw Failure() }
      state.mark = mark
      state.saves += 1
      return now + state.ahead
    }
  }
}
