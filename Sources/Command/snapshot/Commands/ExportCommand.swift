import ArgumentParser
import Foundation
import HTTPArchiveImport
import HTTPArchive
import SnapshotFormat
import SystemIO

struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Writes the HTTP exchanges of a snapshot as an HTTP archive (HAR).",
    discussion: """
      Browsers, proxies and other tools read the archive, in the format HAR 1.2. A snapshot that was imported from an \
      archive gives the same entries in the same order, as far as they were not redacted. Recordings that are no HTTP \
      exchanges are not in the archive.
      """)

  @Argument(
    help: "A snapshot on a server (UUID or its beginning, report, address), a bundle, or a snapshot's folder."
  )
  var snapshot: String

  @Option(help: ArgumentHelp("Write the HTTP archive to this new file.", valueName: "file"))
  var har: String

  @Flag(help: "Print the path and the number of exchanges as JSON.")
  var json = false

  @OptionGroup var options: ReadingOptions

  private struct Result: Encodable {
    let path: String
    let exchanges: Int
  }

  func run() async throws {
    try NewPath.check(har, kind: "file")
    let source = try await options.open(snapshot)
    let staged = URL(filePath: har).deletingLastPathComponent().path + "/" + StagedName.make()
    let export: ArchiveExport
    do {
      export = try write(source, to: staged)
    } catch {
      Self.remove(staged)
      throw error
    }
    if export.others > 0 {
      Console.message(
        "Left out: \(Console.count(export.others, "recording")) that \(export.others == 1 ? "is" : "are") no HTTP exchange."
      )
    }
    if export.tooLarge > 0 {
      Console.message(
        "Written without bodies: \(Console.count(export.tooLarge, "exchange")) with a body of more than \(Console.size(ArchiveExport.bodyLimit))."
      )
    }
    if export.missing > 0 {
      Console.message(
        "Written without bodies: \(export.missing) of the entries, because the snapshot does not have their recordings."
      )
    }
    Console.message("Exported \(Console.count(export.count, "exchange")).")
    if json {
      Console.print(json: Result(path: har, exchanges: export.count))
    } else {
      Console.print(har)
    }
  }

  private func write(_ source: OpenSnapshot, to staged: String) throws -> ArchiveExport {
    do {
      let file = try TemporaryPaths.create(staged) { () throws(SystemError) in
        try File(staged, .create(mode: 0o644))
      }
      let export = try ArchiveExport(source, to: ArchiveOutput(file))
      try file.synchronize()
      try Folder.publish(staged, as: URL(filePath: har).path)
      TemporaryPaths.forget(staged)
      return export
    } catch let error as ArchiveError {
      throw CommandFailure("The snapshot's attachment ‘archive.har’ \(error).", status: .refused)
    } catch let error as BundleError {
      throw CommandFailure("\(error)", status: .refused)
    } catch let error as SystemError where error.isAlreadyThere {
      throw CommandFailure("\(har) exists already; name a file that does not.", status: .refused)
    } catch let error as SystemError {
      throw CommandFailure("\(har) can't be written: \(error)")
    }
  }

  private static func remove(_ staged: String) {
    do { try Folder.removeIfPresent(staged) } catch { Console.message("Cannot remove \(staged): \(error)") }
    TemporaryPaths.forget(staged)
  }
}
