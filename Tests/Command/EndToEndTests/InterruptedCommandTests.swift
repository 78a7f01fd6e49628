import Foundation
import TestSupport
import Testing

/// Commands that a signal ends.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct InterruptedCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func names(in path: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.file(path).path)
  }

  /// Whether a bundle has been begun in the folder, or in that of an upload.
  private func isPacking() throws -> Bool {
    let folders = try names().contains("source.upload") ? ["", "source.upload"] : [""]
    return try folders.contains { try names(in: $0).contains { $0.hasSuffix(".partial") } }
  }

  @Test(
    arguments: [SIGINT, SIGTERM, SIGHUP],
    [
      ["pack", "source", "--output", "packed.zip"],
      ["upload", "source", "--report", "BUG-1", "--server", "http://127.0.0.1:9", "--resume"],
    ])
  func `a command that is interrupted while it packs leaves nothing`(
    signal: Int32, arguments: [String]
  ) async throws {
    // A file without blocks takes no room, but packing it takes seconds.
    let large = try FileHandle(forWritingTo: folder.write(Data(), to: "source/large"))
    try large.truncate(atOffset: 1 << 30)
    try large.close()
    let process = try ChildProcess(Product.path, arguments, folder: folder.url)
    while process.isRunning, try !isPacking() { await Task.yield() }
    process.signal(signal)
    #expect(await process.waitForEnd() == signal)
    #expect(try names() == ["source"])
  }

  @Test(arguments: [false, true])
  func `an interrupted upload says how it is continued, and leaves no temporary file`(resumes: Bool)
    async throws
  {
    try folder.write(Data("{}".utf8), to: "source/feed.json")
    try FileManager.default.createDirectory(at: folder.file("temporary"), withIntermediateDirectories: false)
    let arrived = Signal()
    let server = try ScriptedServer { connection in
      _ = try connection.readHead()
      arrived.fire()
      try connection.waitForClose()
    }
    let errors = try folder.write(Data(), to: "errors")
    let process = try ChildProcess(
      Product.path,
      ["upload", "source", "--report", "BUG-1", "--server", server.url.absoluteString]
        + (resumes ? ["--resume"] : []),
      environment: ["TMPDIR": folder.file("temporary").path], folder: folder.url,
      errors: FileHandle(forWritingTo: errors))
    await arrived.wait()
    process.signal(SIGINT)
    #expect(await process.waitForEnd() == SIGINT)
    let text = try String(contentsOf: errors, encoding: .utf8)
    #expect(text.contains("Interrupted.") && text.contains("--resume"), "\(text)")
    #expect(try names(in: "temporary").isEmpty)
    #expect(try names().contains("source.upload") == resumes)
  }
}
