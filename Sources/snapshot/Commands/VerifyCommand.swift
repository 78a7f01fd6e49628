import ArgumentParser
import Foundation
import SnapshotFormat
import SystemIO
import ZipArchive

struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks a snapshot whole: structure, checksums, digests, manifest.",
    discussion: "With --archive only the ZIP layer of any archive: every entry is read, nothing is written.")

  @Flag(help: "Check any ZIP archive, not a snapshot.")
  var archive = false

  @Argument(help: "The bundle or folder.")
  var source: String

  func run() async throws {
    if archive {
      let count = try verifyArchive()
      Console.print("\(source): \(count) entries, all intact")
    } else {
      let manifest = try verifySnapshot()
      Console.print("\(source): snapshot \(manifest.id), \(manifest.recordings.count) recordings, all intact")
    }
  }

  private func verifyArchive() throws(CommandFailure) -> Int {
    do {
      let reader = try ZipReader(File(source))
      try reader.verify()
      return reader.entries.count
    } catch let error as ZipError {
      throw CommandFailure("\(source): \(error)", status: .refused)
    } catch {
      throw CommandFailure("\(error)", status: .refused)
    }
  }

  private func verifySnapshot() throws(CommandFailure) -> Manifest {
    do {
      switch try SnapshotSource(source) {
      case .bundle(let url): return try SnapshotBundle.validate(zip: url, depth: .full)
      case .snapshotFolder(let url), .plainFolder(let url): return try SnapshotBundle.validate(folder: url)
      }
    } catch let error as BundleError {
      throw CommandFailure("\(source): \(error)", status: .refused)
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure("\(source): \(error)")
    }
  }
}
