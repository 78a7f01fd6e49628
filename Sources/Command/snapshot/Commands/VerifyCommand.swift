import ArgumentParser
import Foundation
import SnapshotFormat
import SystemIO
import ZipArchive

struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks a snapshot's structure, checksums, digests and manifest.",
    discussion: """
      A snapshot must conform to a strict profile of ZIP, so that every program extracts the same files from it. With \
      --archive, any ZIP archive is checked, but only as such: every entry is read, nothing is written.
      """)

  @Flag(help: "Check any ZIP archive, not a snapshot.")
  var archive = false

  @Argument(
    help: "A snapshot on a server (UUID or its beginning, report, address), a bundle, or a snapshot's folder."
  )
  var source: String

  @Flag(help: "Print the result as JSON.")
  var json = false

  @OptionGroup var options: ReadingOptions

  private struct Result: Encodable {
    let source: String
    var id: SnapshotID?
    var recordings: Int?
    var entries: Int?
  }

  func run() async throws {
    var result = Result(source: source)
    if archive {
      let count = try verifyArchive()
      result.entries = count
      if !json { Console.print("\(source): \(count) \(count == 1 ? "entry" : "entries"), all intact") }
    } else if !options.hasIdentity, let sealed = try await verifySealed() {
      result.id = sealed
    } else {
      let manifest = try await options.withSource(source) { try $0.manifest(depth: .full) }
      (result.id, result.recordings) = (manifest.id, manifest.recordings.count)
      if !json {
        Console.print(
          "\(source): snapshot \(manifest.id), \(Console.count(manifest.recordings.count, "recording")), all intact"
        )
      }
    }
    if json { Console.print(json: result) }
  }

  /// Verifies a sealed bundle as far as that is possible without an identity, and returns its UUID; `nil` if the source is
  /// not sealed.
  private func verifySealed() async throws -> SnapshotID? {
    try await options.withSource(source, opensSealed: false) { source throws(CommandFailure) in
      guard case .bundle(let zip) = source, let sealed = SnapshotBundle.sealedContents(of: zip) else {
        return nil
      }
      let manifest = try source.manifest(depth: .full)
      if !json {
        Console.print(
          "\(self.source): sealed snapshot \(manifest.id), intact as far as that can be seen without an identity"
        )
      }
      Console.message(
        "Its contents are sealed to \(Console.escaped(sealed.summary)); --identity FILE verifies them too.")
      return manifest.id
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
