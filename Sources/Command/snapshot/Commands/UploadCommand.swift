import ArgumentParser
import Foundation
import SnapshotClient
import SnapshotFormat

struct UploadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upload",
    abstract: "Attaches a snapshot to a bug report, and prints its UUID.",
    discussion: """
      Takes a bundle (zip), a snapshot's folder, an .xcappdata bundle, whose container becomes the snapshot's app \
      data, any other folder, or a single file. In any other folder, each file becomes a recording; its identifier is \
      the relative path.

      The upload of a large bundle continues after a broken connection. With --resume, a later run continues it too \
      and sends only the missing bytes; until the upload is complete, its state is in SOURCE.upload. If the server no \
      longer has the upload, it starts again from the first byte, and the command says so.

      --note and --field become a part of the bundle that is made. A bundle that exists is not changed: they are sent \
      beside it, as a form, and such an upload can't be resumed.

      With --seal-to, the bundle is sealed before it leaves this machine, and the server can't read it. It sees its UUID, \
      its time, its size, to whom it is sealed, and what --show names.
      """)

  @Argument(help: "The bundle, folder or file.")
  var source: String

  @Option(
    help: ArgumentHelp("The bug report, such as BUG-123.", valueName: "id"),
    transform: ReportID.init(argument:))
  var report: ReportID

  @Option(
    help: ArgumentHelp("The UUID for the snapshot (default: the UUID in the snapshot).", valueName: "uuid"))
  var id: SnapshotID?

  @Option(
    help: ArgumentHelp(
      "When the server deletes it: a time such as 2027-03-01T00:00:00Z, or a duration such as 30d.",
      valueName: "time"))
  var expires: SnapshotEnd?

  @Flag(
    help:
      "Continue the upload of an earlier run with --resume, and allow a later run to continue this one.")
  var resume = false

  @Option(
    help: ArgumentHelp(
      "The maximum size of a request's body in bytes, for a proxy with such a limit.", valueName: "bytes"))
  var maximumRequestBody: Int64?

  @Flag(help: "Print the snapshot's record as JSON.")
  var json = false

  @OptionGroup var words: UserWords

  @OptionGroup var seal: SealOptions

  @OptionGroup var options: ServerOptions

  func validate() throws {
    guard maximumRequestBody ?? 1 > 0 else {
      throw ValidationError("--maximum-request-body must be at least 1.")
    }
  }

  func run() async throws {
    let client = try options.client { $0.resumption.maximumRequestBody = maximumRequestBody }
    let scratch = try ScratchFolder()
    let origin = try SnapshotSource(source)
    let sendsForm = if case .bundle = origin { !words.isEmpty } else { false }
    guard !(sendsForm && resume) else {
      throw CommandFailure(
        "--resume can't be used with --note or --field for an existing bundle, because they are sent as a form.",
        status: .usage)
    }
    guard seal.isEmpty || !sendsForm else {
      throw CommandFailure(
        "--note and --field can't be used with --seal-to for an existing bundle, because the server would see them.",
        status: .usage)
    }
    Interruption.say(
      resume
        ? "Interrupted. The same command with --resume continues the upload."
        : "Interrupted. An upload that begins with --resume can be continued by the same command.")
    let resumed = resume ? try ResumedUpload(of: source, words, seal) : nil
    let bundle =
      if let resumed { resumed.bundle } else {
        try origin.packed(to: scratch.file("bundle.zip"), words, seal)
      }
    let line = ProgressLine("Uploading")
    defer { line.finish() }
    let record =
      if sendsForm {
        try await client.attach(
          bundle.url, to: report, as: id ?? bundle.manifest.id, expires: expires, note: words.note,
          fields: words.fields, progress: line.show)
      } else {
        try await client.attach(
          bundle.url, to: report, as: id ?? bundle.manifest.id, expires: expires, state: resumed?.state,
          progress: line.show,
          restarted: { reason in
            line.finish()
            Console.message("The upload starts again from the first byte: \(reason).")
          })
      }
    Interruption.say(nil)
    resumed?.finish()
    line.finish()
    Console.message("Attached \(Console.size(record.size)) to \(record.report).")
    if json { Console.print(json: record) } else { Console.print(record.id.description) }
  }
}
