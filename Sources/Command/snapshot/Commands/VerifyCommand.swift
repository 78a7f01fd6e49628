import ArgumentParser
import Foundation
import SnapshotFormat
import SystemIO
import ZipArchive

struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks a snapshot whole: structure, checksums, digests, manifest.",
    discussion: """
      A snapshot has to keep to a strict profile of ZIP, so that every program extracts the same files from it. With \
      --archive any archive is checked, by its ZIP layer only: every entry is read, nothing is written.
      """)

  @Flag(help: "Check any ZIP archive, not a snapshot.")
  var archive = false

  @Argument(help: "The bundle or folder.")
  var source: String

  func run() async throws {
    if archive {
      let count = try verifyArchive()
      Console.print("\(source): \(count) entries, all intact")
    } else {
      let manifest = try SnapshotSource(source).manifest(depth: .full)
      Console.print("\(source): snapshot \(manifest.id), \(manifest.recordings.count) recordings, all intact")
    }
  }

  private func verifyArchive() throws(CommandFailure) -> Int {
    guard Folder.isRegularFile(source) else {
      throw CommandFailure("There is no file at \(source).", status: .refused)
    }
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
}
