import FileStore
import SnapshotServer
import SystemIO

/// Examines what the server needs of the machine: a correct clock, and enough descriptors.
struct MachineExamination {
  /// 2026-01-01: before this, the clock of a machine was never set.
  private static let earliest: Int64 = 1_767_225_600
  /// The difference in seconds between clocks that is not worth a finding.
  private static let tolerance: Int64 = 60

  let settings: ServerSettings
  var now = SystemClock.unixSeconds
  var isSynchronized = SystemClock.isSynchronized
  var descriptors = DescriptorLimit.maximum

  func run() -> [Finding] { [clock(), limits()] }

  private func clock() -> Finding {
    let mend = "Synchronize it: `timedatectl set-ntp true`, or install chrony."
    guard now >= Self.earliest else {
      return .error("clock", "The clock is wrong: \(UTCTime(secondsSince1970: Double(now))).", mend: mend)
    }
    do {
      for name in ["audit.log", "tokens", "clean"] {
        let changed = try Folder.ownership(of: "\(settings.storage)/\(name)")?.modified ?? 0
        guard changed <= now + Self.tolerance else {
          return .error(
            "clock",
            "\(name) was changed in the future, at \(UTCTime(secondsSince1970: Double(changed))): the clock is or was wrong.",
            mend: mend + " Retention rules delete by this clock.")
        }
      }
      if var mark = try ClockMarkFile(in: settings.storage).read() {
        mark.observe(Double(now), elapsed: 0)
        if !mark.isBelieved {
          return .warning(
            "clock",
            """
            Nothing is deleted automatically: the clock shows \(UTCTime(secondsSince1970: Double(now))), and the last \
            time that the server knows to be right is \(UTCTime(secondsSince1970: mark.time)).
            """, mend: "Correct it. If it is right, wait for an hour, or run `snapshot expire --confirm`.")
        }
      }
    } catch {
      return .error("clock", "The storage can't be examined: \(error)", mend: "Check the disk and its log.")
    }
    if isSynchronized == false {
      return .warning("clock", "The clock is not synchronized with other clocks.", mend: mend)
    }
    return .ok("clock", "The clock is at \(UTCTime(secondsSince1970: Double(now))).")
  }

  private func limits() -> Finding {
    guard descriptors < settings.descriptors else {
      return .ok("limits", "The process can open \(settings.descriptors) files and connections.")
    }
    return .warning(
      "limits",
      "The process can open only \(descriptors) files, and limits.connections needs \(settings.descriptors).",
      mend:
        "Set LimitNOFILE=\(settings.descriptors) in the unit (this command sees the limit of its own shell).")
  }
}
