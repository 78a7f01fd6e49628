import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// Storage folders that are links or contain them, and folders that are gone, as the command and the server see them.
@Suite struct StorageFolderTests {
  private let folder: TemporaryFolder
  private var storage: String { folder.file("storage").path }
  private var elsewhere: String { folder.file("elsewhere").path }

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.file(name).path }

  private func link(_ name: String, to target: String) throws -> String {
    try #require(symlink(target, path(name)) == 0)
    return path(name)
  }

  private func run(_ arguments: [String], _ status: Int32 = 0) async throws -> Tool.Outcome {
    let outcome = try await Product.run(arguments, folder: folder.url)
    #expect(outcome.status == status, "\(arguments): \(outcome.errors)")
    return outcome
  }

  /// Attaches a bundle to a server of the folder `storage`, and stops it.
  private func fill(_ storage: String) async throws -> SnapshotID {
    let server = try await TestServer(storage: URL(filePath: storage))
    let (zip, id) = try await Sample.bundle(in: folder)
    _ = try await run(["upload", zip.path, "--report", "BUG-1", "--server", server.url.absoluteString])
    #expect(await server.program.stop() == 0)
    return id
  }

  @Test func `a storage folder that a link names is the same one for every command`() async throws {
    try Folder.create(storage)
    let linked = try link("linked", to: "storage")
    let id = try await fill(linked)
    #expect(try Folder.exists(storage + "/bundles"))
    let doctor = try await Product.run(
      ["doctor", "--storage", linked], environment: ["SNAPSHOT_SERVER_PORT": "1"], folder: folder.url)
    #expect(doctor.text.contains("\(storage) is a storage folder"), "\(doctor.text)")
    for arguments in [
      ["scrub"], ["reindex"], ["expire", "--dry-run"], ["pin", "\(id)"],
      ["expire", "\(id)", "--at", "never"],
      ["token", "create", "--scope", "admin"], ["token", "list"],
    ] { _ = try await run(arguments + ["--storage", linked]) }

    try Folder.create(path("backup"))
    let backup = try link("latest", to: "backup")
    _ = try await run(["backup", backup, "--storage", linked])
    let checked = try await Product.run(
      ["doctor", "--storage", linked, "--backup", backup], environment: ["SNAPSHOT_SERVER_PORT": "1"],
      folder: folder.url)
    #expect(checked.text.contains("The last backup began at"), "\(checked.text)")
    _ = try await run(["backup", path("first.tar"), "--storage", linked])
    let archive = try link("latest.tar", to: "first.tar")
    _ = try await run(["backup", path("second.tar"), "--since", archive, "--storage", linked])
    for source in [[backup], [archive, path("second.tar")]] {
      try Folder.create(path("restored"))
      let target = try link("target", to: "restored")
      _ = try await run(["restore"] + source + ["--storage", target])
      #expect(try Folder.entries(path("restored")).contains("bundles"))
      try Folder.remove(target)
      try Folder.removeTree(path("restored"))
    }
    try Folder.create(path("moved"))
    let moved = try link("new", to: "moved")
    _ = try await run(["migrate", "--from", linked, "--to", moved, "--finish"])
    #expect(Folder.isRegularFile("\(path("moved"))/bundles/\(id.description.prefix(2))/\(id).zip"))

    let broken = try link("broken", to: "nowhere")
    for arguments in [
      ["serve", "--port", "0"], ["token", "list"], ["scrub"], ["reindex"], ["backup", path("other")],
      ["restore", backup],
    ] {
      let outcome = try await run(arguments + ["--storage", broken], 2)
      #expect(outcome.errors.contains("\(broken) is a symbolic link that leads nowhere"), "\(outcome.errors)")
    }
  }

  @Test(arguments: ["bundles", "tokens"])
  func `a link in the storage is refused by name by every command, and by the running server`(
    name: String
  ) async throws {
    _ = try await run(["token", "create", "--scope", "admin", "--storage", storage])
    let server = try await TestServer(storage: URL(filePath: storage))
    #expect(try await Curl([server.address("/readyz")]).status == 200)
    try Folder.replace(elsewhere, with: "\(storage)/\(name)")
    try #require(symlink(elsewhere, "\(storage)/\(name)") == 0)
    try await expectUnready(server, ["status": "unwritable", "reason": "misplaced", "name": name])
    #expect(await server.program.stop() == 0)
    for arguments in [
      ["serve", "--port", "0"], ["token", "create", "--scope", "read"], ["token", "list"], ["scrub"],
      ["reindex"],
      ["expire", "--dry-run"], ["backup", path("backup")], ["backup", path("backup.tar")], ["doctor"],
    ] {
      let outcome = try await run(arguments + ["--storage", storage], 2)
      #expect(
        (outcome.text + outcome.errors).contains("\(storage)/\(name) is a symbolic link"),
        "\(arguments): \(outcome.errors)")
    }
    for arguments in [["migrate", "--from", storage, "--to", path("moved")]] {
      let outcome = try await run(arguments, 2)
      #expect(outcome.errors.contains("\(storage)/\(name) is a symbolic link"), "\(outcome.errors)")
    }
    #expect(try Folder.kind(of: "\(storage)/\(name)") == .link)
  }

  @Test(arguments: ["bundles", "keys"])
  func `a folder that is gone is named, while the server runs and at its next start`(name: String)
    async throws
  {
    _ = try await fill(storage)
    let server = try await TestServer(storage: URL(filePath: storage))
    #expect(try await Curl([server.address("/readyz")]).status == 200)
    try Folder.replace(elsewhere, with: "\(storage)/\(name)")
    try await expectUnready(server, ["status": "unwritable", "reason": "missing", "name": name])
    _ = await server.program.stop()
    for arguments in [
      ["serve", "--port", "0"], ["token", "list"], ["scrub"], ["backup", path("backup")], ["doctor"],
    ] {
      let outcome = try await run(arguments + ["--storage", storage], 2)
      let text = outcome.text + outcome.errors
      #expect(text.contains("\(storage)/\(name) is missing") && text.contains("from the backup"), "\(text)")
      if arguments[0] == "serve" { #expect(text.contains(#""level":"error""#), "\(text)") }
    }
    try Folder.replace("\(storage)/\(name)", with: elsewhere)
    let again = try await TestServer(storage: URL(filePath: storage))
    #expect(try await Curl([again.address("/v1/snapshots?total=true")]).json["total"] as? Int == 1)
    #expect(await again.program.stop() == 0)
  }

  private func expectUnready(_ server: TestServer, _ expected: [String: String]) async throws {
    for _ in 0..<1000 {
      let answer = try await Curl([server.address("/readyz")])
      guard answer.status == 503 else { continue }
      #expect(try answer.json as? [String: String] == expected)
      return
    }
    Issue.record("the server stays ready")
  }

  @Test(.timeLimit(.minutes(5 * Sanitizer.slowness)), arguments: ["pipe", "folder", "device"])
  func `a file that is named and is none ends with a sentence`(kind: String) async throws {
    let file = kind == "device" ? "/dev/zero" : path("named")
    if kind == "pipe" { try #require(mkfifo(file, 0o600) == 0) }
    if kind == "folder" { try Folder.create(file) }
    let serve = ["serve", "--port", "0", "--storage", storage]
    for arguments in [
      serve + ["--tls-certificate", file, "--tls-key", file], serve + ["--config", file],
      ["config", "check", "--config", file], ["list", "--token-file", file], ["list", "--ca-file", file],
    ] {
      let outcome = try await run(arguments, 2)
      let reason = kind == "folder" ? "it is a folder" : "it is a pipe, a device or a socket"
      #expect(
        outcome.errors.contains(file) && outcome.errors.contains(reason), "\(arguments): \(outcome.errors)")
    }
    let doctor = try await Product.run(
      ["doctor", "--storage", storage],
      environment: [
        "SNAPSHOT_SERVER_PORT": "1", "SNAPSHOT_SERVER_TLS_CERTIFICATE": file, "SNAPSHOT_SERVER_TLS_KEY": file,
      ], folder: folder.url)
    #expect(doctor.status == 2 && doctor.text.contains(file), "\(doctor.text)")
  }

  @Test func `a damaged key is named by the server and by doctor, with what to do`() async throws {
    _ = try await run(["token", "create", "--scope", "admin", "--storage", storage])
    let key = storage + "/keys/tokens"
    try DurableFile.replace(key, with: [1, 2, 3])
    for arguments in [["serve", "--port", "0"], ["token", "create", "--scope", "read"], ["doctor"]] {
      let outcome = try await run(arguments + ["--storage", storage], 2)
      let text = outcome.text + outcome.errors
      #expect(text.contains("\(key) is damaged") && text.contains("Restore it from the backup"), "\(text)")
    }
  }
}
