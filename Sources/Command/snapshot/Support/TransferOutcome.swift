import SnapshotStore
import SystemIO

/// Shows the progress and the result of a backup or a restore.
enum TransferOutcome {
  /// Runs `transfer`.
  /// - Parameters:
  ///   - title: what happens, for the progress line.
  ///   - target: what contains the copies.
  ///   - losses: whether snapshots that could not be copied are no failure.
  static func show(
    json: Bool, _ title: String, _ target: String, accepting losses: Bool = false,
    _ transfer: ((TransferReport) -> Void) async throws(TransferError) -> TransferReport
  ) async throws(CommandFailure) {
    let line = ProgressLine(title)
    let report: TransferReport
    do {
      defer { line.finish() }
      report = try await transfer { report in
        line.show(share: report.share) {
          "(\(report.copiedBundles) new bundles, \(Console.size(report.copiedBytes)))"
        }
      }
    } catch {
      throw CommandFailure(error)
    }
    if json {
      Console.print(json: report)
    } else {
      for problem in report.problems { Console.print("\(problem.id) \(problem.kind.rawValue)") }
      for problem in report.fileProblems { Console.print("\(problem.path) \(problem.kind.rawValue)") }
    }
    Console.message(
      """
      Copied \(report.copiedBundles) bundles (\(Console.size(report.copiedBytes))), \(report.changedRecords) changed \
      records, \(report.deletions) deletions and \(report.otherFiles) other files; \(target) has \
      \(report.bundles) bundles (\(Console.size(report.bytes))).
      """)
    if losses { return }
    let (lost, files) = (report.lossCount, report.fileProblems.count)
    guard lost == 0 else {
      throw CommandFailure("\(lost) snapshots are damaged or missing, and were not copied.", status: .refused)
    }
    guard files == 0 else {
      throw CommandFailure(
        "\(files) other files of the backup are damaged, and were copied as they are, or are missing.",
        status: .refused)
    }
  }
}

extension CommandFailure {
  init(_ error: TransferError) {
    switch error {
    case .system(let failure) where failure.isLink: self.init(error.description, status: .refused)
    case .system, .unavailable, .superseded: self.init(error.description)
    default: self.init(error.description, status: .refused)
    }
  }
}
