import ArgumentParser
import Foundation
import HTTPArchiveImport
import Redaction
import SnapshotClient
import SnapshotFormat
import SystemIO

struct ImportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Makes a snapshot of an HTTP archive (HAR), and prints its UUID.",
    discussion: """
      Each entry becomes a recorded HTTP exchange with its bodies, which an app replays like its own; identical requests \
      are replayed in the order in which they ended. What else is in the archive is kept, and `snapshot export` writes \
      it again. The archive can be in a ZIP, with the files that Playwright writes beside it.

      Secrets are removed before anything is written, by the rules that an app calls usualSecrets, or by those of a \
      file. An entry whose body is not in the archive is not recorded, so that it is never replayed as an empty \
      response; the command and the manifest name it.

      The article “HAR files” describes what becomes of an archive, and the limits; a server shows it at \
      /docs/httparchives.
      """)

  /// The most entries that are named as left out.
  private static let namedLimit = 100

  @Argument(help: "The HTTP archive: a file in the format HAR 1.2, or a ZIP that contains one.")
  var file: String

  @Option(
    help: ArgumentHelp("Attach the snapshot to this bug report, such as BUG-123.", valueName: "id"),
    transform: ReportID.init(argument:))
  var report: ReportID?

  @Option(
    help: ArgumentHelp(
      "Write the bundle to this new file (default, without --report: FILE with the extension zip).",
      valueName: "file"))
  var output: String?

  @Option(
    help: ArgumentHelp(
      "A file with redaction rules (default: the rules that an app calls usualSecrets).", valueName: "file"))
  var rules: String?

  @Flag(help: "Import everything as it is, with the secrets that it contains.")
  var noRedaction = false

  @Flag(help: "Print the snapshot's record, or its manifest without --report, as JSON.")
  var json = false

  @OptionGroup var options: ServerOptions

  func validate() throws {
    guard !(noRedaction && rules != nil) else {
      throw ValidationError("Pass --rules or --no-redaction, not both.")
    }
    guard report == nil || output == nil else {
      throw ValidationError("Pass --report or --output, not both.")
    }
  }

  func run() async throws {
    let rules = noRedaction ? RedactionRules([], unknownBinaries: .keep) : try RulesOptions.read(rules)
    let client = report == nil ? nil : try options.client()
    let archive = try Self.open(file)
    let scratch = try ScratchFolder()
    let path = report == nil ? output ?? Self.output(for: file) : scratch.file("bundle.zip").path
    if report == nil { try NewPath.check(path, kind: "file", mend: "name another file with --output") }

    let (imported, manifest) = try Self.read(archive, by: rules, in: scratch, report: report, into: path)
    report(imported)
    if let client, let report {
      let line = ProgressLine("Uploading")
      defer { line.finish() }
      let record = try await client.attach(
        URL(filePath: path), to: report, as: manifest.id, progress: line.show)
      line.finish()
      Console.message("Attached \(Console.size(record.size)) to \(record.report).")
      if json { Console.print(json: record) } else { Console.print(record.id.description) }
    } else {
      Console.message("The snapshot is in \(path).")
      if json { Console.print(json: manifest) } else { Console.print(manifest.id.description) }
    }
    withExtendedLifetime(scratch) {}
  }

  /// Opens the file at `path`, which may be a link.
  private static func open(_ path: String) throws -> ArchiveFile {
    guard !path.isEmpty else { throw CommandFailure("The archive has no name.", status: .refused) }
    let resolved = try NamedPath.resolve(path)
    guard Folder.isRegularFile(resolved) else {
      throw CommandFailure("There is no file at \(path).", status: .refused)
    }
    do {
      return try ArchiveFile(File(resolved), named: path, folder: Folder.parent(of: resolved))
    } catch let error as ArchiveImportError {
      throw CommandFailure(error.description, status: .refused)
    } catch {
      throw CommandFailure("\(path) can't be read: \(error)", status: .refused)
    }
  }

  private static func read(
    _ archive: ArchiveFile, by rules: RedactionRules, in scratch: ScratchFolder, report: ReportID?,
    into path: String
  ) throws(CommandFailure) -> (ArchiveImport, Manifest) {
    do {
      let imported = try ArchiveImport(archive, by: rules, in: scratch.url)
      return (imported, try imported.pack(to: URL(filePath: path), report: report))
    } catch {
      throw CommandFailure(error.description, status: .refused)
    }
  }

  /// Prints what became of the entries.
  private func report(_ imported: ArchiveImport) {
    for line in imported.leftOut.prefix(Self.namedLimit) {
      Console.message("Not recorded: \(Console.escaped(line))")
    }
    let rest = imported.leftOutCount - min(imported.leftOut.count, Self.namedLimit)
    if rest > 0 { Console.message("Not recorded: \(Console.count(rest, "more entry"))") }
    if imported.otherSizes > 0 {
      Console.message(
        "\(imported.otherSizes) of the bodies have another size than the archive states; they may be cut off."
      )
    }
    Console.message(
      "Imported \(Console.count(imported.count, "exchange")); the archive has \(imported.entryCount) in all.")
  }

  private static func output(for file: String) -> String {
    let url = URL(filePath: file)
    let base = url.deletingPathExtension().relativePath
    return url.pathExtension.lowercased() == "zip" ? "\(base)-snapshot.zip" : "\(base).zip"
  }
}
