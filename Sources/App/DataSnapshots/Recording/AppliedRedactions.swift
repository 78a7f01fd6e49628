import Foundation
import Redaction
import SnapshotFormat
import SystemIO

/// `redactions.json`: the rules that were applied to the recordings, kept across launches.
struct AppliedRedactions: Codable, Equatable {
  /// The names of the rules configured when the last recording was written.
  var configured: [String] = []
  /// The names of the configured rules that were applied to at least one recording or attachment.
  var ran: [String] = []
  /// What the rules found when they were applied, as in ``Redactor/engine``; `nil` for the first one.
  var engine: Int?

  /// Returns those of the last launch; none if nothing was recorded.
  static func restored(from storage: Storage) throws -> AppliedRedactions {
    do {
      let json = try File(storage.redactions).read(upTo: 1 << 20, at: 0)
      return try SnapshotJSON.decode(AppliedRedactions.self, from: Data(json))
    } catch let error as SystemError where error.isNotFound {
      return AppliedRedactions()
    }
  }

  /// Replaces the file durably.
  func save(in storage: Storage) throws {
    let json = Array(try SnapshotJSON.encode(self))
    do {
      try DurableFile.replace(storage.redactions, with: json)
    } catch  where error.isNotFound {
      try Folder.create(storage.folder)
      try DurableFile.replace(storage.redactions, with: json)
    }
  }

  /// Records that the rules called `names` were applied. Keeps only rules in `configured`, in that order.
  mutating func add(_ names: [String], of configured: [String]) {
    let all = Set(ran).union(names)
    self.configured = configured
    engine = Redactor.engine
    var seen: Set<String> = []
    ran = configured.filter { all.contains($0) && seen.insert($0).inserted }
  }
}
