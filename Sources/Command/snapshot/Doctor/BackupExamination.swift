import FileStore
import SnapshotStore
import Foundation
import SystemIO

/// Examines the age of a backup.
struct BackupExamination {
  /// The age in seconds above which there is a warning: two days.
  private static let oldAge: TimeInterval = 2 * 86_400
  private let topic = "backup"

  let backup: String
  var now = Date()

  func run() -> Finding {
    let path: String
    do { path = try NamedPath.resolve(backup) } catch {
      return .error(topic, error.description, mend: "Name the folder or the archive of the backup.")
    }
    let mend = "Run `snapshot backup \(backup)` regularly, for example from a systemd timer."
    do {
      guard let time = try StorageBackup.lastCompletion(of: path) else {
        return .error(topic, "The backup in \(backup) was never completed.", mend: mend)
      }
      let text = "The last backup began at \(UTCTime(secondsSince1970: time.timeIntervalSince1970))."
      if now.timeIntervalSince(time) > Self.oldAge { return .warning(topic, text, mend: mend) }
      return .ok(topic, text)
    } catch {
      return .error(topic, error.description, mend: mend)
    }
  }
}
