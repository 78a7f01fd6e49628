import Foundation
import SnapshotFormat
import SystemIO
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

  private func lostBundles(_ server: TestServer) async throws -> Substring? {
    let text = String(decoding: try await Curl([server.address("/metrics")]).body, as: UTF8.self)
    let name = "snapshot_store_lost_bundles "
    return text.split(separator: "\n").first { $0.hasPrefix(name) }?.dropFirst(name.count)
  }

  @Test func `a lost bundle is named by every command, its record stays, and the same bytes repair it`()
    async throws
  {
    var server = try await TestServer(storage: folder.file("storage"))
    let (zip, id) = try await Sample.bundle(in: folder)
    let attach = ["upload", zip.path, "--report", "BUG-1", "--server"]
    try #require(try await Product.run(attach + [server.url.absoluteString]).status == 0)
    await server.program.stop()
    let stored = folder.file("storage/bundles/\(id.description.prefix(2))/\(id)")
    try FileManager.default.removeItem(at: stored.appendingPathExtension("zip"))
    // The catalogue is not needed to know it.
    for name in ["catalog.sqlite", "catalog.sqlite-wal"] { try Folder.removeIfPresent("\(storage)/\(name)") }

    for target in [backup, folder.file("new.tar").path] {
      let outcome = try await Product.run(["backup", target, "--storage", storage])
      #expect(outcome.status == 2 && outcome.lines == ["\(id) missing"], "\(outcome.errors)")
    }
    let migration = try await Product.run([
      "migrate", "--from", storage, "--to", folder.file("moved").path, "--finish",
    ])
    #expect(migration.status == 2 && migration.lines == ["\(id) missing"], "\(migration.errors)")
    let doctor = try await Product.run(["doctor", "--storage", storage, "--quiet"], folder: folder.url)
    #expect(doctor.text.contains("The bundles of 1 snapshots are gone, and their records are there: \(id)"))
    let scrub = try await Product.run(["scrub", "--storage", storage])
    #expect(scrub.status == 2 && scrub.lines == ["\(id)"], "\(scrub.errors)")

    server = try await TestServer(storage: folder.file("storage"))
    let address = server.address("/v1/snapshots/\(id)")
    #expect(try await Curl([address + ".zip"]).status == 500)
    #expect(try await Curl([address]).json["verified"] as? String == "damaged")
    #expect(try await lostBundles(server) == "1")
    let repair = try await Product.run(attach + [server.url.absoluteString])
    #expect(repair.lines == ["\(id)"], "\(repair.errors)")
    #expect(try await Curl([address + ".zip"]).status == 200)
    #expect(try await lostBundles(server) == "0")
    #expect(try Folder.exists(stored.appendingPathExtension("json").path))
  }

  @Test func `a backup that was never completed is restored with --partial only, and is served by nobody`()
    async throws
  {
    let server = try await TestServer(storage: folder.file("storage"))
    let (zip, _) = try await Sample.bundle(in: folder)
    let upload = try await Product.run([
      "upload", zip.path, "--report", "BUG-1", "--server", server.url.absoluteString,
    ])
    try #require(upload.status == 0)
    try #require(try await Product.run(["backup", backup, "--storage", storage]).status == 0)
    for (name, mark) in [
      ("killed", #"{"format":1,"bundles":0,"bytes":0}"#), ("damaged", "{"), ("again", nil),
    ] {
      if let mark { try folder.write(Data(mark.utf8), to: "backup/backup.json") }
      let served = try await Product.run(["serve", "--port", "0", "--storage", backup])
      #expect(served.status == 2 && served.errors.contains("is a backup"), "\(served.errors)")
      let other = folder.file(name).path
      let refused = try await Product.run(["restore", backup, "--storage", other])
      #expect(refused.status == 2 && refused.errors.contains("--partial"), "\(refused.errors)")
      let partial = try await Product.run(["restore", backup, "--storage", other, "--partial"])
      #expect(partial.status == 0 && partial.errors.contains("Copied 1 bundles"), "\(partial.errors)")
    }
    let repeated = try await Product.run(["backup", backup, "--storage", storage])
    #expect(repeated.status == 2 && repeated.errors.contains("backup.json is damaged"), "\(repeated.errors)")
    let examined = try await Product.run(["doctor", "--storage", backup], folder: folder.url)
    #expect(examined.text.contains("is a backup, or the copy of a migration"), "\(examined.text)")
    let interrupted = folder.file("again")
    try folder.write(Data(), to: "again/incomplete-restore")
    for command in [["serve", "--port", "0"], ["scrub"], ["reindex"]] {
      let outcome = try await Product.run(command + ["--storage", interrupted.path])
      #expect(outcome.status == 2 && outcome.errors.contains("only in part"), "\(outcome.errors)")
    }
  }

  @Test func `a flipped bit in a key of an archive is named by the restore`() async throws {
    let token = try await Product.run(["token", "create", "--scope", "admin", "--storage", storage])
    try #require(token.status == 0)
    try FileManager.default.createDirectory(
      at: folder.file("storage/bundles"), withIntermediateDirectories: true)
    let archive = folder.file("a.tar").path
    try #require(try await Product.run(["backup", archive, "--storage", storage]).status == 0)
    let key = try Data(contentsOf: folder.file("storage/keys/tokens"))
    var bytes = try Data(contentsOf: folder.file("a.tar"))
    let place = try #require(bytes.firstRange(of: key))
    bytes[place.lowerBound] ^= 1
    try bytes.write(to: folder.file("a.tar"))
    let outcome = try await Product.run(["restore", archive, "--storage", folder.file("new").path])
    #expect(outcome.status == 2 && outcome.lines == ["keys/tokens damaged"], "\(outcome.errors)")
    #expect(outcome.errors.contains("1 other files of the backup are damaged"))
  }
}
