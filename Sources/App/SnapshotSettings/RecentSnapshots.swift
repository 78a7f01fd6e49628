public import Foundation
public import SnapshotFormat
import Synchronization
import SystemIO

/// A snapshot that was sent or activated here.
public struct RecentSnapshot: Sendable, Hashable, Codable, Identifiable {
  /// How it came into the list.
  public enum Origin: String, Sendable, Hashable, Codable, CaseIterable {
    /// It was made here, for a bug report.
    case sent
    /// It was fetched, and replayed here.
    case activated
  }

  /// The snapshot.
  public var id: SnapshotID
  /// The bug report that it belongs to, where it is known.
  public var report: ReportID?
  /// The app that recorded it, where it is known.
  public var application: Manifest.Application?
  /// How it came into the list.
  public var origin: Origin
  /// When that was.
  public var date: Date

  /// Describes an entry of the list.
  public init(
    id: SnapshotID, report: ReportID? = nil, application: Manifest.Application? = nil, origin: Origin,
    date: Date
  ) {
    self.id = id
    self.report = report
    self.application = application
    self.origin = origin
    self.date = SnapshotJSON.milliseconds(of: date)
  }
}

/// The latest snapshots, each once, in a small file that is replaced in one step.
final class RecentSnapshots: Sendable {
  /// The most bytes that the file may have.
  static let fileLimit = 1 << 20

  /// Why the file could not be read; the list begins anew then, and the file is replaced with the next entry.
  let problem: String?
  private let file: URL
  private let limit: Int
  private let entries: Mutex<[RecentSnapshot]>

  /// The list in `file`, empty where there is none; at most `limit` entries.
  init(file: URL, limit: Int) {
    self.file = file
    self.limit = max(1, limit)
    let (entries, problem) = Self.read(file)
    self.entries = Mutex(Array(entries.prefix(self.limit)))
    self.problem = problem
  }

  /// The latest first.
  var all: [RecentSnapshot] { entries.withLock { $0 } }

  /// Puts `entry` first, and writes the file; blocks. When it throws, the list holds the entry all the same.
  func insert(_ entry: RecentSnapshot) throws {
    try save(
      entries.withLock { entries in
        var entry = entry
        let former = entries.first { $0.id == entry.id }
        entry.report = entry.report ?? former?.report
        entry.application = entry.application ?? former?.application
        entries = Array(([entry] + entries.filter { $0.id != entry.id }).prefix(limit))
        return entries
      })
  }

  /// Empties the list and the file; blocks.
  func clear() throws {
    entries.withLock { $0 = [] }
    try save([])
  }

  private func save(_ entries: [RecentSnapshot]) throws {
    let json = Array(try SnapshotJSON.encode(entries, pretty: true))
    do {
      try DurableFile.replace(file.path, with: json)
    } catch  where error.isNotFound {
      try Folder.create(file.deletingLastPathComponent().path)
      try DurableFile.replace(file.path, with: json)
    }
  }

  private static func read(_ file: URL) -> (entries: [RecentSnapshot], problem: String?) {
    do {
      let json = try File(file.path).read(upTo: fileLimit, at: 0)
      return (try SnapshotJSON.decode([RecentSnapshot].self, from: Data(json)), nil)
    } catch let error as SystemError where error.isNotFound {
      return ([], nil)
    } catch {
      return ([], "It begins anew. \(file.path): \(error)")
    }
  }
}
