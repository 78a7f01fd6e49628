import Foundation
import SnapshotFormat
import SystemIO

/// A file of an audit log that is copied to a table.
struct ForwardedFile: Sendable {
  private let file: File
  let identity: FileIdentity
  /// Identifies the file also after it was renamed.
  let id: ContentDigest
  let isRefused: Bool
  /// How many bytes are durable. More than these are not copied: after a power failure the file must not lack what the
  /// table has.
  let size: Int64

  /// Opens a file, and flushes it; `nil` if it does not exist, has no line, or is complete in the table. Blocks.
  /// - Parameters:
  ///   - copied: the sizes of the files that the table has completely.
  ///   - changes: whether lines are appended to the file.
  init?(
    _ path: String, isRefused: Bool, copied: [FileIdentity: Int64], changes: Bool
  ) throws(SystemError) {
    do { file = try File(path) } catch {
      // It can be renamed or removed at any time.
      if error.isNotFound { return nil }
      throw error
    }
    (identity, size) = (try file.identity, try file.size)
    // The system can give a new file the identity of a removed one.
    if !changes, copied[identity] == size { return nil }
    let start = try file.read(upTo: AuditLimits.firstLineBytes, at: 0)
    let end = start.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 }
    guard let length = end ?? (start.count == AuditLimits.firstLineBytes ? start.count : nil) else {
      return nil
    }
    id = ContentDigest.of(start[..<length])
    self.isRefused = isRefused
    try file.synchronize()
  }

  /// Reads complete lines that begin at `start`; `nil` if there are none. Blocks.
  func batch(from start: Int64, limit: Int) throws(SystemError) -> AuditBatch? {
    guard start < size else { return nil }
    let bytes = try file.read(upTo: Int(min(Int64(limit), size - start)), at: start)
    // A line that is longer than a batch is not one of the log. Its end will not be one either.
    let last = bytes.lastIndex(of: UInt8(ascii: "\n")) ?? (bytes.count == limit ? limit - 1 : -1)
    guard last >= 0 else { return nil }
    var batch = AuditBatch(
      file: id, isRefused: isRefused, range: start..<start + Int64(last) + 1, lines: [])
    for line in bytes[...last].split(separator: UInt8(ascii: "\n")) {
      if let line = Self.line(line, at: start + Int64(line.startIndex)) { batch.lines.append(line) }
    }
    return batch
  }

  /// Returns a line; `nil` if it is not one of an audit log, because a crash left a part of one, for example.
  private static func line(_ bytes: ArraySlice<UInt8>, at position: Int64) -> AuditBatch.Line? {
    struct Fields: Decodable {
      var time: Date
      var snapshot: SnapshotID?
      var comparedWith: SnapshotID?
    }
    guard let text = String(validating: bytes, as: UTF8.self), !text.utf8.contains(0) else { return nil }
    do {
      let fields = try SnapshotJSON.decode(Fields.self, from: Data(bytes))
      return AuditBatch.Line(
        position: position, time: fields.time, snapshot: fields.snapshot, comparedWith: fields.comparedWith,
        text: text)
    } catch {
      return nil
    }
  }
}

extension AuditLog.Configuration {
  /// The paths of all files, oldest first.
  var filePaths: [(path: String, isRefused: Bool, changes: Bool)] {
    (0...max(keptFiles, 1)).reversed().flatMap { number in
      [(path, false), (refusalsPath, true)].map { path, isRefused in
        (number == 0 ? path : "\(path).\(number)", isRefused, number == 0)
      }
    }
  }
}
