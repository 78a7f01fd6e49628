import ArgumentParser
import Foundation
import SnapshotClient
import SnapshotFormat

struct UploadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload",
    abstract: "Attaches a snapshot to a bug report, and prints its UUID.",
    discussion: """
      Takes a bundle (zip), a snapshot's folder, an .xcappdata bundle, whose container becomes the snapshot's app-data, \
      or any other folder: then each file becomes a recording whose identifier is its relative path.

      A large bundle goes on where a connection broke. With --resume a later run does so, too, and sends only what the \
      server lacks; until it is done, what that needs lies in SOURCE.upload. Where the server contradicts it, such as \
      when it has lost the upload, the upload begins again from the start, and the command says so.
      """)

  @Argument(help: "The bundle or folder.")
  var source: String

  @Option(
    help: ArgumentHelp("The bug report, such as BUG-123.", valueName: "id"),
    transform: ReportID.init(argument:))
  var report: ReportID

  @Option(help: ArgumentHelp("The UUID to attach it under (default: the snapshot's own).", valueName: "uuid"))
  var id: SnapshotID?

  @Option(
    help: ArgumentHelp(
      "When the server lets it go by itself: a time such as 2027-03-01T00:00:00Z, or a while such as 30d.",
      valueName: "time"))
  var expires: SnapshotEnd?

  @Flag(
    help:
      "Go on with the upload that an earlier run with --resume began, and let a later one go on with this.")
  var resume = false

  @Option(
    help: ArgumentHelp(
      "The most bytes that a request may have, where a proxy on the way takes no more.", valueName: "bytes"))
  var maximumRequestBody: Int64?

  @OptionGroup var options: ServerOptions

  func validate() throws {
    guard maximumRequestBody ?? 1 > 0 else {
      throw ValidationError("--maximum-request-body takes a number of bytes, 1 or more.")
    }
  }

  func run() async throws {
    let client = try options.client { $0.resumption.maximumRequestBody = maximumRequestBody }
    let scratch = try ScratchFolder()
    let resumed = resume ? try ResumedUpload(of: source) : nil
    let bundle =
      if let resumed { resumed.bundle } else {
        try SnapshotSource(source).packed(to: scratch.file("bundle.zip"))
      }
    let line = ProgressLine("Uploading")
    defer { line.finish() }
    let record = try await client.attach(
      bundle.url, to: report, as: id ?? bundle.manifest.id, expires: expires, state: resumed?.state,
      progress: line.show,
      restarted: { reason in
        line.finish()
        Console.note("The upload begins again from the start: \(reason).")
      })
    resumed?.finish()
    line.finish()
    Console.note("Attached \(Console.size(record.size)) to \(record.report).")
    Console.print(record.id.description)
  }
}
