import Foundation
import SystemIO

/// Keeps what was recorded but is not in its own file yet, so that it survives a crash of the app.
///
/// A record is in the system's page cache when ``append(_:)`` returns. Nothing is flushed: that would take milliseconds,
/// and a crash of the app does not lose the page cache. After a power failure, the checksums tell complete records from
/// others.
///
/// The records are in files with ascending numbers, called segments. A segment is removed when all its records are in
/// files of their own. Safe to use from any thread.
final class RecordingJournal: Sendable {
  private struct State {
    /// The segment to which records are appended.
    var file: File?
    var number: Int
    /// The length of the segment.
    var end: Int64 = 0
    /// The number of records in each segment that are not in files of their own.
    var unsettled: [Int: Int] = [:]
  }

  /// The length from which a segment is not continued.
  static let segmentLength: Int64 = 16 << 20

  private let folder: String
  /// The segments of the last run, in ascending order.
  private let former: [Int]
  private let state: Lock<State>

  /// Finds the segments of the last run in `folder`. Nothing is created before the first record.
  init(_ folder: String) {
    self.folder = folder
    let names: [String]
    do {
      names = try Folder.entries(folder)
    } catch {
      // It does not exist yet. If it can't be read, nothing can be appended either.
      names = []
    }
    former = names.compactMap { Int($0) }.filter { $0 > 0 }.sorted()
    state = Lock(State(number: former.last ?? 0))
  }

  /// Appends a record.
  /// - Returns: the segment, for ``settle(_:)``.
  func append(_ record: JournalRecord) throws(SystemError) -> Int {
    let head = record.head
    return try state.withLock { state throws(SystemError) in
      if state.end >= Self.segmentLength { state.file = nil }
      let file = if let open = state.file { open } else { try open(&state) }
      let dataOffset = state.end + Int64(head.count)
      do throws(SystemError) {
        try file.write(head, at: state.end)
        try unsafe record.data.withUnsafeBytes { bytes in
          Result { () throws(SystemError) in try unsafe file.write(bytes, at: dataOffset) }
        }.get()
      } catch {
        // A reader would stop at the incomplete record, so later records go to another segment.
        state.file = nil
        if state.unsettled[state.number] == nil { removeSegment(state.number) }
        throw error
      }
      state.end = dataOffset + Int64(record.data.count)
      state.unsettled[state.number, default: 0] += 1
      return state.number
    }
  }

  private func open(_ state: inout State) throws(SystemError) -> File {
    while true {
      state.number += 1
      do {
        let file = try create(segment: state.number)
        state.file = file
        state.end = 0
        return file
      } catch  where error.isAlreadyThere {
        // Another instance used the folder after this one had looked for segments.
      }
    }
  }

  private func create(segment number: Int) throws(SystemError) -> File {
    do {
      return try File(path(number), .create(mode: 0o600))
    } catch  where error.isNotFound {
      try Folder.create(folder)
      return try File(path(number), .create(mode: 0o600))
    }
  }

  /// Records that a record of `segment` is in its own file, or was given up.
  func settle(_ segment: Int) {
    state.withLock { state in
      let left = (state.unsettled[segment] ?? 1) - 1
      guard left == 0 else {
        state.unsettled[segment] = left
        return
      }
      state.unsettled[segment] = nil
      if segment == state.number, let file = state.file {
        do {
          try file.truncate(to: 0)
          state.end = 0
          return
        } catch {
          state.file = nil
        }
      }
      removeSegment(segment)
    }
  }

  /// Calls `body` with each record of the last run, in the order in which they were appended, then removes them.
  func recover(_ body: (JournalRecord) -> Void) throws(SystemError) {
    for number in former {
      do {
        let file = try File(path(number))
        let size = try file.size
        var offset: Int64 = 0
        while let (record, end) = try JournalRecord.read(
          at: offset, of: size, { count, place throws(SystemError) in try file.read(upTo: count, at: place) })
        {
          body(record)
          offset = end
        }
      } catch  where error.isNotFound {
        continue
      }
      try Folder.removeIfPresent(path(number))
    }
  }

  private func path(_ number: Int) -> String { "\(folder)/\(number)" }

  /// A segment that can't be removed is read at the next launch: its records then replace the same or later files with
  /// what they contained, so an error is ignored here.
  private func removeSegment(_ number: Int) {
    do { try Folder.removeIfPresent(path(number)) } catch {}
  }
}
