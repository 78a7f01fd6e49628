package import Foundation
import SnapshotFormat
import SnapshotStore
package import SystemIO

/// Stores the mark of the clock in a file.
package struct ClockMarkFile: ClockMarkStore {
  /// The name in a storage folder.
  static let name = "clock"
  /// The maximum length of the file in bytes.
  private static let maximumLength = 1024

  private let path: String
  private let queue = ServerQueues.shared.maintenance

  /// Uses the file in the storage folder `folder`, which need not have it.
  package init(in folder: String) { path = "\(folder)/\(Self.name)" }

  /// Reads the mark; `nil` if there is none, or the file is malformed.
  package func read() throws(SystemError) -> ClockMark? {
    guard try Folder.exists(path) else { return nil }
    let bytes = try File(path).read(upTo: Self.maximumLength, at: 0)
    // As for a file that was removed, the newest record shows whether the clock is right.
    do { return try SnapshotJSON.decode(ClockMark.self, from: Data(bytes)) } catch { return nil }
  }

  package func load() async throws -> ClockMark? {
    try await queue.perform { () throws(SystemError) in try read() }
  }

  package func save(_ mark: ClockMark) async throws -> Date {
    let bytes = Array(try SnapshotJSON.encode(mark))
    return try await queue.perform { [path] () throws(SystemError) in
      try DurableFile.replace(path, with: bytes)
      return Date(timeIntervalSince1970: Double(try File(path).modifiedAt) / 1000)
    }
  }
}
