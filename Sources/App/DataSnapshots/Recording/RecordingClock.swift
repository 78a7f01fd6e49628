import Foundation
import SnapshotFormat
import SystemIO

/// Decides whether recordings may be removed because of their age. A clock that is set to another year for an hour must
/// not remove them all.
///
/// The newest recording shows what time it was. A clock that is more than a day off is believed when it has moved on by
/// an hour, also over launches, and was not set back in between.
final class RecordingClock: Sendable {
  /// The longest time in seconds that a doubted clock can move on between two readings, because the app was not used.
  private static let longestPause = 30 * 86_400.0
  /// After how many seconds the mark is saved again.
  private static let interval = 600.0
  private static let maximumLength = 1024

  private struct Marks {
    var mark: ClockMark?
    /// The mark in the file.
    var stored: ClockMark?
  }

  private let path: String
  /// `nil` before the file is read.
  private let marks = Lock<Marks?>(nil)

  init(_ storage: Storage) { path = storage.clock }

  /// Forgets what was read, because the file is removed.
  func forget() { marks.withLock { $0 = nil } }

  /// Returns whether outdated recordings may be removed.
  /// - Parameters:
  ///   - now: what the clock shows.
  ///   - isNeeded: whether there are any.
  ///   - newest: when the newest recording was made.
  func permitsRemoval(at now: Date, isNeeded: Bool, newest: Date) throws(SystemError) -> Bool {
    try marks.withLock { known throws(SystemError) in
      var marks: Marks
      if let known {
        marks = known
      } else {
        let stored = try load()
        marks = Marks(mark: stored, stored: stored)
      }
      defer { known = marks }
      guard isNeeded || marks.mark?.isBelieved == false else { return false }
      let (now, newest) = (now.timeIntervalSince1970, newest.timeIntervalSince1970)
      var mark = marks.mark ?? ClockMark(time: newest)
      // The app has recorded since it last removed something.
      if mark.isBelieved, newest > mark.time, newest <= now { mark = ClockMark(time: newest) }
      let pause = min(max(now - mark.last, 0), Self.longestPause)
      mark.observe(now, elapsed: mark.isBelieved ? 0 : pause)
      if marks.stored?.isBelieved != mark.isBelieved
        || abs(mark.last - (marks.stored?.last ?? 0)) >= Self.interval
      {
        save(mark)
        marks.stored = mark
      }
      marks.mark = mark
      return isNeeded && mark.isBelieved
    }
  }

  /// Reads the file; `nil` if there is none, or it is malformed.
  private func load() throws(SystemError) -> ClockMark? {
    guard try Folder.exists(path) else { return nil }
    let bytes = try File(path).read(upTo: Self.maximumLength, at: 0)
    // The newest recording is used instead.
    do { return try SnapshotJSON.decode(ClockMark.self, from: Data(bytes)) } catch { return nil }
  }

  /// Replaces the file. On a full disk it remains as it was: old recordings have to be removed to make room.
  private func save(_ mark: ClockMark) {
    do { try DurableFile.replace(path, with: Array(try SnapshotJSON.encode(mark))) } catch {
      // The next launch judges the clock by the former mark or by the newest recording.
    }
  }
}
