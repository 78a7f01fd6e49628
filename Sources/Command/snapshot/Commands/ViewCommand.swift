import ArgumentParser
import Foundation
import HTTPEngine
import Logging
import SnapshotClient
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import SystemIO

struct ViewCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "view",
    abstract: "Shows snapshots in the browser with the server's pages, and uploads nothing.",
    discussion: """
      Copies the snapshots to a temporary folder that nobody else can read, and serves the pages on 127.0.0.1: contents, \
      search, problems, comparison. Prints ‘Viewing UUID at http://127.0.0.1:…’ when they are ready. The address signs one \
      browser in, once; all other requests are refused. Runs until SIGTERM or SIGINT, and removes the folder then. The \
      next command removes what a killed one has left. On a terminal, opens the address by the program \
      `\(SystemBrowser.opener)`.

        snapshot view BUG-123
        snapshot view before.zip after.zip
      """)

  @Argument(
    help: "Snapshots on a server (UUID or its beginning, report, address), bundles, or folders of data.")
  var snapshots: [String]

  @Option(help: "The port; 0 selects a free one.")
  var port: UInt16 = 0

  @Flag(
    inversion: .prefixedNo,
    help:
      "Open the browser (default: if stdout is a terminal). Other users may see the address that it is given."
  )
  var browser: Bool?

  @OptionGroup var options: ReadingOptions

  func run() async throws {
    ProcessSignals.ignoreBrokenPipeAndFileSizeLimit()
    let scratch = try ScratchFolder()
    defer { withExtendedLifetime(scratch) {} }
    let log = LogQueue(output: Console.message)
    defer { log.flush() }
    let logger = Logger(label: "view") {
      ConsoleLogHandler(label: $0, level: CommonLogLevel(.error), style: .plain, queue: log)
    }
    let reader: LocalReader
    do {
      reader = try await LocalReader.open(scratch.file("storage").path, port: port, logger: logger)
    } catch {
      throw CommandFailure(error)
    }
    do { try await show(by: reader, scratch) } catch {
      await reader.close()
      throw error
    }
    await reader.close()
  }

  private func show(by reader: LocalReader, _ scratch: ScratchFolder) async throws {
    let address: ListenAddress
    do { address = try await reader.start() } catch { throw CommandFailure(error.description) }
    var shown: [SnapshotID] = []
    for name in snapshots {
      let prepared = try await prepare(name, in: scratch)
      let record = try await add(prepared, named: name, to: reader)
      if !shown.contains(record.id) { shown.append(record.id) }
      if prepared.isTemporary { try Folder.remove(prepared.zip.path) }
    }
    Interruption.stop { Task { await reader.stop() } }
    let server = try URL(of: address).absoluteString
    let link = server + reader.signInPath(to: shown.count == 1 ? shown[0] : nil)
    Console.print(
      "Viewing \(shown.count == 1 ? "\(shown[0])" : Console.count(shown.count, "snapshot")) at \(link)")
    Console.message(
      "The address signs one browser in, once. SIGINT (Ctrl-C) ends this, and removes the copies.")
    if shown.count == 2 {
      Console.message("Their comparison: \(server + LocalReader.path(ofComparing: shown[0], with: shown[1]))")
    }
    if browser ?? Console.outputIsTerminal { Task { await open(link) } }
    do { try await reader.run() } catch { throw CommandFailure(error.description) }
  }

  /// Opens the browser. If there is none, the user has the address.
  private func open(_ link: String) async {
    do { try await SystemBrowser.open(link) } catch { Console.message(error.description) }
  }

  // MARK: - Bundles

  /// A bundle that the pages can show.
  private struct Prepared {
    let zip: URL
    /// Whether the file is only needed until it was added.
    let isTemporary: Bool
    let attachment: Attachment
  }

  /// Returns the bundle that an argument refers to: downloaded, packed, opened if it is sealed, or as it is.
  private func prepare(_ name: String, in scratch: ScratchFolder) async throws -> Prepared {
    let new = scratch.file("bundle.zip")
    if let (snapshot, client) = try await fetch(name, to: new) {
      let zip = try options.unsealed(.bundle(new), in: scratch).packed(to: new).url
      if zip != new { try Folder.remove(new.path) }
      var attachment = Attachment(report: try Self.report(of: zip), id: snapshot.id)
      // A link gives access to the bundle only.
      if snapshot.link == nil {
        let record = try await client.record(snapshot.id)
        (attachment.report, attachment.metadata) = (record.report, record.metadata)
      }
      return Prepared(zip: zip, isTemporary: true, attachment: attachment)
    }
    let source = try SnapshotSource(name)
    if case .plainFile(let file) = source { throw SnapshotSource.notASnapshot(file) }
    do {
      let (zip, manifest) = try options.unsealed(source, in: scratch).packed(to: new)
      let isTemporary = zip.deletingLastPathComponent().path == scratch.url.path
      return Prepared(
        zip: zip, isTemporary: isTemporary, attachment: Attachment(report: try Self.report(of: manifest)))
    } catch let failure as CommandFailure {
      throw CommandFailure("\(name) can't be shown: \(failure)", status: failure.status)
    }
  }

  private func fetch(
    _ name: String, to zip: URL
  ) async throws -> (snapshot: SnapshotReference, client: SnapshotAPIClient)? {
    let line = ProgressLine("Fetching")
    defer { line.finish() }
    return try await options.fetchIfNamed(name, to: zip, progress: line.show)
  }

  private static func report(of zip: URL) throws -> ReportID {
    try report(of: SnapshotSource.bundle(zip).manifest(depth: .structure))
  }

  /// The report of a snapshot; `local` if it has none.
  private static func report(of manifest: Manifest) throws -> ReportID {
    try manifest.report ?? ReportID(validating: "local")
  }

  private func add(_ bundle: Prepared, named name: String, to reader: LocalReader) async throws
    -> SnapshotRecord
  {
    do {
      return try await reader.add(bundle.zip.path, as: bundle.attachment)
    } catch let error as StoreError {
      throw CommandFailure(
        "\(name) can't be shown: \(error)", status: error.isAboutBundle ? .refused : .failed)
    } catch UploadError.store(let error) {
      throw CommandFailure("\(name) can't be shown: \(error)")
    } catch let error as SystemError {
      throw CommandFailure("\(name) can't be read: \(error)")
    }
  }
}

extension StoreError {
  /// Whether the bundle was refused, rather than the disk failed.
  fileprivate var isAboutBundle: Bool { if case .invalid = self { true } else { false } }
}
