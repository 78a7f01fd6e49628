public import Foundation
public import SnapshotFormat
import SystemIO

/// A snapshot that was sent or activated on this device.
public struct RecentSnapshot: Sendable, Hashable, Codable, Identifiable {
  /// How an entry came into the list.
  public enum Origin: String, Sendable, Hashable, Codable, CaseIterable {
    /// It was made on this device, for a bug report.
    case sent
    /// It was fetched, and replayed on this device.
    case activated
  }

  /// The snapshot's UUID.
  public var id: SnapshotID
  /// The bug report to which it belongs, if known.
  public var report: ReportID?
  /// The app that recorded it, if known.
  public var application: Manifest.Application?
  /// How the entry came into the list.
  public var origin: Origin
  /// The time when it was sent or activated.
  public var date: Date

  /// Creates an entry.
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

/// The most recent snapshots, without duplicates, in a small file that is replaced atomically.
final class RecentSnapshots: Sendable {
  /// The maximum size of the file in bytes.
  static let fileLimit = 1 << 20

  /// Why the file could not be read. The list then starts empty, and the next entry replaces the file.
  let problem: String?
  private let file: URL
  private let limit: Int
  private let entries: Lock<[RecentSnapshot]>

  /// Reads the list from `file`, or starts empty if the file does not exist. The list has at most `limit` entries.
  init(file: URL, limit: Int) {
    self.file = file
    self.limit = max(1, limit)
    let (entries, problem) = Self.read(file)
    self.entries = Lock(Array(entries.prefix(self.limit)))
    self.problem = problem
  }

  /// The entries, newest first.
  var all: [RecentSnapshot] { entries.withLock { $0 } }

  /// Moves `entry` to the front, and writes the file; blocks. If writing fails, the list in memory still has the entry.
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

  /// Clears the list and the file; blocks.
  func clear() throws {
    entries.withLock { $0 = [] }
    try save([])
  }

  private func save(_ entries: [RecentSnapshot]) throws {
    let json = Array(try SnapshotJSON.encode(entries, pretty: true))
    do {
      try DurableFile.replace(file.path, with: json)
    } catch  where error.isNotFound {
      try PrivateFolder.create(file.deletingLastPathComponent().path)
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
      return ([], "The list is empty now. \(file.path): \(error)")
    }
  }
}
