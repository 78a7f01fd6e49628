public import Foundation
import SnapshotFormat
import SystemIO

/// The time of everything that a server deletes automatically: snapshots by rules or at their expiration, abandoned
/// uploads, and bytes that nothing names.
///
/// A clock that is wrong once must not delete anything for good. So nothing may be deleted while ``Reading/doubt`` is
/// set: while the clock differs by more than a day from the durable ``/SystemIO/ClockMark`` of its last readings, from a
/// monotonic clock since this process began, or from the storage's own clock. A store without a mark is judged by its
/// newest record. The doubt ends when the clock has run for an hour without another jump, and agrees with the storage; or
/// when a person confirms it.
///
/// The mark can't be saved on a full disk. Then it remains as it was, and deletions that free space continue.
public final class DeletionClock: Sendable {
  /// A reading of the clock.
  public struct Reading: Sendable, Hashable {
    /// The time that the clock shows.
    public var time: Date
    /// Why nothing may be deleted automatically; `nil` if it may.
    public var doubt: ClockDoubt?
  }

  /// The settings of a clock.
  public struct Configuration: Sendable {
    /// Returns the time of day.
    public var now: @Sendable () -> Date
    /// Returns the time of a monotonic clock, which also advances while the machine sleeps.
    public var elapsed: @Sendable () -> Duration
    /// Stores the mark; with `nil`, it is lost when the process ends.
    public var marks: (any ClockMarkStore)?
    /// Returns when the newest record was received; `nil` if there is none.
    public var newestRecord: @Sendable () async throws -> Date?
    /// Called when a doubt arises or changes, and with `nil` when it ends.
    public var onChange: @Sendable (ClockDoubt?) -> Void
    /// Called with an error of saving or loading the mark. It will be tried again.
    public var onFailure: @Sendable (any Error) -> Void

    /// Creates settings that use the system's clocks.
    public init(
      now: @escaping @Sendable () -> Date = { Date() },
      elapsed: @escaping @Sendable () -> Duration = { ContinuousClock.now - start },
      marks: (any ClockMarkStore)? = nil,
      newestRecord: @escaping @Sendable () async throws -> Date? = { nil },
      onChange: @escaping @Sendable (ClockDoubt?) -> Void = { _ in },
      onFailure: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
      self.now = now
      self.elapsed = elapsed
      self.marks = marks
      self.newestRecord = newestRecord
      self.onChange = onChange
      self.onFailure = onFailure
    }

    /// The moment at which the default ``elapsed`` is zero.
    public static let start = ContinuousClock.now
  }

  /// How often the mark is saved, and how often while the clock is doubted.
  private static let interval = (believed: Duration.seconds(600), doubted: Duration.seconds(30))

  private struct State {
    /// The mark; `nil` before the first reading.
    var mark: ClockMark?
    /// Both clocks at the first reading since the last jump.
    var anchor: (time: Double, elapsed: Duration)?
    /// The last reading of the monotonic clock.
    var last: Duration?
    /// When the stored mark was last read or written.
    var accessed: Duration?
    /// Why ``mark`` is not believed, if that is known.
    var cause: ClockDoubt?
    /// What the callers were told.
    var doubt: ClockDoubt?

    func isDue(at now: Duration) -> Bool {
      guard let mark, let accessed else { return true }
      return now - accessed >= (mark.isBelieved ? interval.believed : interval.doubted)
    }
  }

  private let configuration: Configuration
  private let state = Lock(State())

  /// Creates a clock. Nothing is read yet.
  public init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

  /// The doubt at the last reading.
  public var doubt: ClockDoubt? { state.withLock { $0.doubt } }

  /// Reads the clock, and judges it. To be called regularly, and before anything is deleted.
  @discardableResult
  public func read() async -> Reading {
    do { try await loadMark() } catch {
      return conclude(unknown: ClockDoubt(clock: configuration.now(), cause: .unknown("\(error)")))
    }
    if let mark = observe(), let storage = await save(mark), let doubted = compare(with: storage) {
      _ = await save(doubted)
    }
    return conclude()
  }

  /// Believes the clock as it is, because a person says that it is right.
  public func confirm() async {
    let mark = ClockMark(time: configuration.now().timeIntervalSince1970)
    state.withLock { state in
      state.mark = mark
      // The next reading compares with the storage again, whose clock nobody has confirmed.
      (state.anchor, state.last, state.accessed) = (nil, nil, nil)
    }
    _ = await save(mark)
    _ = conclude()
  }

  // MARK: - Judging

  /// Judges the clock by its last readings.
  /// - Returns: the mark, if it is to be saved.
  private func observe() -> ClockMark? {
    let (now, elapsed) = (configuration.now(), configuration.elapsed())
    let time = now.timeIntervalSince1970
    return state.withLock { state in
      guard var mark = state.mark else { return nil }
      let isDue = state.isDue(at: elapsed)
      let wasBelieved = mark.isBelieved
      var hasJumped = false
      // Many small jumps are as wrong as a large one.
      if let anchor = state.anchor,
        !ClockMark.agree(time - anchor.time, (elapsed - anchor.elapsed) / .seconds(1))
      {
        mark.doubt(time)
        hasJumped = true
      } else {
        hasJumped = mark.observe(time, elapsed: (elapsed - (state.last ?? elapsed)) / .seconds(1))
      }
      if hasJumped { state.cause = ClockDoubt(clock: now, cause: .mark(Self.date(mark.time))) }
      if hasJumped || state.anchor == nil { state.anchor = (time, elapsed) }
      (state.mark, state.last) = (mark, elapsed)
      guard isDue || mark.isBelieved != wasBelieved else { return nil }
      state.accessed = elapsed
      return mark
    }
  }

  /// Doubts the clock if that of the storage differs.
  /// - Returns: the mark, if it is to be saved again.
  private func compare(with storage: Date) -> ClockMark? {
    let now = configuration.now()
    guard !ClockMark.agree(now.timeIntervalSince1970, storage.timeIntervalSince1970) else { return nil }
    return state.withLock { state in
      let wasBelieved = state.mark?.isBelieved == true
      state.mark?.doubt(now.timeIntervalSince1970)
      if case .storage = state.cause?.cause {
      } else {
        state.cause = ClockDoubt(clock: now, cause: .storage(storage))
      }
      return wasBelieved ? state.mark : nil
    }
  }

  /// Makes the reading, and reports what has changed.
  /// - Parameter unknown: the doubt if the clock can't be judged.
  private func conclude(unknown: ClockDoubt? = nil) -> Reading {
    let now = configuration.now()
    let (doubt, isNew) = state.withLock { state in
      let former = state.doubt
      if let unknown {
        // The reason does not change because time passes.
        if case .unknown = former?.cause {} else { state.doubt = unknown }
      } else if let mark = state.mark, !mark.isBelieved {
        let cause = state.cause ?? ClockDoubt(clock: now, cause: .mark(Self.date(mark.time)))
        (state.cause, state.doubt) = (cause, cause)
      } else {
        (state.cause, state.doubt) = (nil, nil)
      }
      return (state.doubt, state.doubt != former)
    }
    if isNew { configuration.onChange(doubt) }
    return Reading(time: now, doubt: doubt)
  }

  private static func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }

  // MARK: - The stored mark

  /// Loads the mark before the first reading, and while the clock is doubted: another server that shares the storage may
  /// know that the clock is right.
  private func loadMark() async throws {
    let elapsed = configuration.elapsed()
    let (known, isDue) = state.withLock { ($0.mark, $0.isDue(at: elapsed)) }
    if let known {
      guard !known.isBelieved, isDue else { return }
      do {
        let now = configuration.now().timeIntervalSince1970
        guard let stored = try await configuration.marks?.load(), stored.isBelieved,
          ClockMark.agree(stored.time, now)
        else { return }
        state.withLock { state in
          state.mark = stored
          state.anchor = nil
        }
      } catch {
        configuration.onFailure(error)
      }
    } else {
      let mark: ClockMark
      if let stored = try await configuration.marks?.load() {
        mark = stored
      } else {
        let first = try await configuration.newestRecord() ?? configuration.now()
        mark = ClockMark(time: first.timeIntervalSince1970)
      }
      state.withLock { if $0.mark == nil { $0.mark = mark } }
    }
  }

  /// Saves the mark.
  /// - Returns: the time of the storage; `nil` if it is not known.
  private func save(_ mark: ClockMark) async -> Date? {
    do { return try await configuration.marks?.save(mark) } catch {
      configuration.onFailure(error)
      return nil
    }
  }
}
