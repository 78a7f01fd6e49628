import DataSnapshots
import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// `snapshot run`, which runs an app that replays a snapshot.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct RunCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(at: folder.file("tmp"), withIntermediateDirectories: false)
  }

  private var environment: [String: String] { ["TMPDIR": folder.file("tmp").path] }

  private func bundle() async throws -> URL { try await Sample.bundle(in: folder).0 }

  private func leftovers() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.file("tmp").path)
  }

  @Test func `the app finds the unpacked snapshot, and the folder is removed`() async throws {
    let zip = try await bundle()
    let outcome = try await Product.run(
      [
        "run", zip.path, "--", "sh", "-c",
        #"ls "$DATA_SNAPSHOTS_REPLAY" && echo "$1" && cat "$DATA_SNAPSHOTS_REPLAY/manifest.json" > seen.json"#,
        "sh",
        "--list",
      ], environment: environment, folder: folder.url)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines == ["manifest.json", "recordings", "--list"])
    let seen = try Manifest(json: Data(contentsOf: folder.file("seen.json")))
    #expect(try seen == SnapshotBundle.validate(zip: zip, depth: .structure))
    #expect(try leftovers().isEmpty)
  }

  @Test func `exit status and signals of the app are passed on`() async throws {
    let zip = try await bundle()
    let status = try await Product.run(
      ["run", zip.path, "--", "sh", "-c", "exit 7"], environment: environment)
    #expect(status.status == 7 && status.errors.isEmpty, "\(status.errors)")
    let killed = try await Product.run(
      ["run", zip.path, "--", "sh", "-c", "kill -KILL $$"], environment: environment)
    #expect(killed.status == SIGKILL)
    #expect(try leftovers().isEmpty)
  }

  @Test(arguments: [SIGTERM, SIGINT, SIGHUP]) func `a signal reaches the app, which may end in its own way`(
    signal: Int32
  ) async throws {
    let zip = try await bundle()
    let script = "trap 'exit 9' TERM INT HUP; echo ready; while :; do sleep 0.05; done"
    let program = try await RunningProgram(
      Product.path, ["run", zip.path, "--", "sh", "-c", script], environment: environment)
    #expect(program.firstLine == "ready")
    #expect(await program.stop(signal) == 9)
    #expect(try leftovers().isEmpty)
  }

  @Test func `what can't be run is named in one sentence`() async throws {
    let zip = try await bundle()
    let program = try await Product.run(
      ["run", zip.path, "--", "no-such-program"], environment: environment)
    #expect(program.status == 2 && program.errors.contains("There is no program ‘no-such-program’"))
    let nothing = try await Product.run(["run", zip.path], environment: environment)
    #expect(nothing.status == 64)
    try folder.write(Data("x".utf8), to: "plain.txt")
    let plain = try await Product.run(
      ["run", folder.file("plain.txt").path, "--", "true"], environment: environment)
    #expect(plain.status == 2 && plain.errors.contains("is not a snapshot bundle"))
    #expect(try leftovers().isEmpty)
  }
}
