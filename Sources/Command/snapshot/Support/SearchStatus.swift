import ArgumentParser
import SnapshotClient
import SnapshotFormat
import SystemIO

/// The exit status of a command that looks for something, such as `diff` and `grep`: 0 and 1 are answers, and 2 is a
/// failure.
enum SearchStatus {
  /// Runs a command, and exits with status 1 if that is the answer, or with 2 if it fails.
  /// - Parameter isOne: does the work, prints the result, and returns whether the answer is 1.
  static func exit(isOne: () async throws -> Bool) async throws {
    let status: Bool
    do {
      status = try await isOne()
    } catch let failure as CommandFailure {
      throw CommandFailure(failure.description, status: .refused)
    } catch let error as SnapshotClientError {
      throw CommandFailure(error.description, status: .refused)
    } catch let error as BundleError {
      throw CommandFailure(error.description, status: .refused)
    }
    if Console.lostOutput.value {
      throw CommandFailure("The result could not be written to stdout.", status: .refused)
    }
    if status { throw ExitCode(1) }
  }
}
