import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// Backups with the command, beside a server that runs.
@Suite struct BackupCommandTests {
  private let folder: TemporaryFolder
  private var storage: String { folder.file("storage").path }
  private var backup: String { folder.file("backup").path }

  init() throws { folder = try TemporaryFolder() }

  @Test func `a restored server has the snapshots and tokens of the one that runs`() async throws {
    let token = try await Product.run(["token", "create", "--scope", "admin", "--storage", storage])
    let file = try folder.write(token.output, to: "token")
    let server = try await TestServer(storage: folder.file("storage"))
    var ids: [SnapshotID] = []
    for seed in 0..<3 {
      let (zip, id) = try await Sample.bundle(in: folder, seed: seed)
      let upload = try await Product.run([
        "upload", zip.path, "--report", "BUG-1", "--server", server.url.absoluteString, "--token-file",
        file.path,
      ])
      try #require(upload.status == 0, "\(upload.errors)")
      ids.append(id)
    }
    let first = try await Product.run(["backup", backup, "--storage", storage])
    #expect(first.status == 0 && first.output.isEmpty)
    #expect(first.errors.contains("Copied 3 bundles"), "\(first.errors)")
    let second = try await Product.run(["backup", backup, "--storage", storage, "--json", "--verify"])
    #expect(second.status == 0)
    #expect(second.text.contains(#""copiedBundles" : 0"#) && second.text.contains(#""bundles" : 3"#))

    let other = folder.file("other")
    let restore = try await Product.run(["restore", backup, "--storage", other.path])
    #expect(restore.status == 0, "\(restore.errors)")
    let restored = try await TestServer(storage: other)
    #expect(try await Curl([restored.address("/v1/snapshots")]).status == 401)
    for id in ids {
      let fetched = folder.file("\(id).zip").path
      let outcome = try await Product.run([
        "fetch", "\(id)", "--output", fetched, "--server", restored.url.absoluteString, "--token-file",
        file.path,
      ])
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    let used = try await Product.run(["restore", backup, "--storage", other.path])
    #expect(used.status == 2 && used.errors.contains("is not empty"))
  }

  @Test func `a series of archives is restored, and options that do not fit are refused`() async throws {
    let server = try await TestServer(storage: folder.file("storage"))
    let (first, second) = (folder.file("first.tar").path, folder.file("second.tar").path)
    for (seed, arguments) in [[first], [second, "--since", first]].enumerated() {
      let (zip, _) = try await Sample.bundle(in: folder, seed: seed)
      let upload = try await Product.run([
        "upload", zip.path, "--report", "BUG-1", "--server", server.url.absoluteString,
      ])
      try #require(upload.status == 0, "\(upload.errors)")
      let made = try await Product.run(["backup"] + arguments + ["--storage", storage])
      #expect(made.status == 0 && made.errors.contains("Copied 1 bundles"), "\(made.errors)")
    }
    let other = folder.file("other").path
    let incomplete = try await Product.run(["restore", second, "--storage", other])
    #expect(incomplete.status == 2 && incomplete.errors.contains("does not continue"))
    let restore = try await Product.run(["restore", first, second, "--storage", other])
    #expect(restore.status == 0 && restore.errors.contains("Copied 2 bundles"), "\(restore.errors)")
    for arguments in [[backup, "--since", first], [folder.file("x.tar").path, "--verify"]] {
      #expect(try await Product.run(["backup"] + arguments + ["--storage", storage]).status == 64)
    }
  }

  @Test func `damage is named, and the exit code is 2`() async throws {
    let server = try await TestServer(storage: folder.file("storage"))
    let (zip, id) = try await Sample.bundle(in: folder)
    let upload = try await Product.run([
      "upload", zip.path, "--report", "BUG-1", "--server", server.url.absoluteString,
    ])
    try #require(upload.status == 0)
    let stored = folder.file("storage/bundles/\(id.description.prefix(2))/\(id).zip")
    var bytes = try Data(contentsOf: stored)
    bytes[bytes.count / 2] ^= 1
    try FileManager.default.removeItem(at: stored)
    try bytes.write(to: stored)
    let outcome = try await Product.run(["backup", backup, "--storage", storage])
    #expect(outcome.status == 2)
    #expect(outcome.lines == ["\(id) damaged"])
    let missing = try await Product.run(["backup", backup, "--storage", folder.file("none").path])
    #expect(missing.status == 2 && missing.errors.contains("There is no storage folder"))
  }
}
