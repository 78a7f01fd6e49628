import Foundation
import SnapshotServer
import SystemIO
import TestSupport
import Testing

@testable import snapshot

/// What `snapshot doctor` finds.
@Suite struct DoctorTests {
  private let folder: TemporaryFolder
  private let maker: CertificateMaker
  private var storage: String { folder.file("storage").path }

  init() throws { (folder, maker) = (try TemporaryFolder(), try CertificateMaker()) }

  private func doctor(_ arguments: [String] = [], environment: [String: String] = [:]) async throws
    -> Tool.Outcome
  {
    try await Product.run(
      ["doctor", "--storage", storage] + arguments, environment: environment, folder: folder.url)
  }

  @Test func `nothing is wrong with a new server, except that it has no token`() async throws {
    let server = try await TestServer(storage: folder.file("storage"))
    let outcome = try await doctor(environment: ["SNAPSHOT_SERVER_PORT": "\(try #require(server.url.port))"])
    #expect(outcome.status == 0, "\(outcome.text)")
    #expect(outcome.lines.contains { $0.hasPrefix("ok") && $0.contains("is ready") })
    #expect(outcome.lines.contains { $0.hasPrefix("warning") && $0.contains("There is no token") })
    #expect(outcome.text.contains("→ snapshot token create"))
  }

  @Test(.enabled(if: Tool.find("openssl") != nil, "openssl isn't installed"))
  func `a server with HTTPS is asked over HTTPS, and its certificates are examined`() async throws {
    let server = try await TestServer(storage: folder.file("storage"), ["--tls-self-signed"])
    let port = "\(try #require(server.url.port))"
    let own = ["SNAPSHOT_SERVER_PORT": port, "SNAPSHOT_SERVER_TLS_SELF_SIGNED": "true"]
    let outcome = try await doctor(environment: own)
    #expect(outcome.status == 0, "\(outcome.text)")
    #expect(outcome.lines.contains { $0.hasPrefix("ok") && $0.contains("is ready") })
    #expect(outcome.text.contains("self-signed"))

    let pair = try await maker.make("localhost", as: "server")
    let given = ["SNAPSHOT_SERVER_TLS_CERTIFICATE": pair.certificate, "SNAPSHOT_SERVER_TLS_KEY": pair.key]
    let valid = try await doctor(environment: given)
    #expect(valid.text.contains("three more weeks"))
    let broken = try await doctor(
      environment: given.merging(["SNAPSHOT_SERVER_TLS_KEY": pair.certificate]) { $1 })
    #expect(broken.status == 2)
    #expect(broken.text.contains("below server.tls"))
  }

  @Test(.enabled(if: Tool.find("openssl") != nil, "openssl isn't installed"))
  func `certificates that expire soon are named`() async throws {
    let pair = try await maker.make("localhost", as: "server")
    var settings = ServerSettings(storage: storage)
    (settings.tls.certificates, settings.tls.keys) = ([pair.certificate], [pair.key])
    for (days, severity) in [(0.0, Finding.Severity.ok), (20, .warning), (40, .error)] {
      let examination = CertificateExamination(settings: settings, now: Date() + days * 86_400)
      #expect(examination.run().findings.map(\.severity) == [severity], "\(days)")
    }
  }

  @Test func `permissions of the storage and of its secrets are examined`() async throws {
    _ = try await Product.run(["token", "create", "--scope", "admin", "--storage", storage])
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: storage)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: storage + "/keys/tokens")
    let outcome = try await doctor(["--quiet", "--json"])
    #expect(outcome.status == 2)
    #expect(outcome.text.contains("chmod 0700 "))
    #expect(outcome.text.contains("Other users can read keys/tokens and 0 more secret files."))
  }

  @Test func `settings, a missing folder and a server that does not answer are named`() async throws {
    let outcome = try await doctor(
      environment: [
        "SNAPSHOT_SERVER_PROT": "1", "SNAPSHOT_SERVER_AUDIT_FILES": "0", "SNAPSHOT_SERVER_PORT": "1",
      ])
    #expect(outcome.status == 2)
    for text in [
      "server.auditFiles is ‘0’", "SNAPSHOT_SERVER_PROT is not a setting", "There is no storage folder",
      "No server answers at 127.0.0.1:1",
    ] {
      #expect(outcome.text.contains(text), "\(text)")
    }
  }

  @Test func `a public address needs a token, and uploads need free space`() throws {
    try Folder.create(storage + "/bundles")
    var settings = ServerSettings(storage: storage)
    settings.host = "0.0.0.0"
    settings.reservedBytes = .max
    let findings = StorageExamination(settings).run()
    #expect(findings.contains { $0.severity == .error && $0.topic == "tokens" })
    #expect(findings.contains { $0.severity == .error && $0.text.contains("reservedBytes") })
    #expect(findings.contains { $0.severity == .ok && $0.topic == "permissions" })
  }

  @Test(
    .enabled("\(SmallDisk.requirement)") { await SmallDisk.isPossible },
    arguments: [(120, 120, []), (80, 120, ["bytes"]), (120, 80, ["inodes"]), (80, 80, ["bytes", "inodes"])]
      as [(Int64, Int64, [String])])
  func `a disk of which 90 % are used is a warning, in bytes and in inodes`(
    bytes: Int64, inodes: Int64, expected: [String]
  ) async throws {
    let disk = try await SmallDisk(bytes: 4_096_000, inodes: 1000)
    let storage = disk.file("storage").path
    try Folder.create(storage + "/bundles")
    try disk.useInodes(leaving: inodes + 1)
    try disk.fill(leaving: bytes * 4096)
    var settings = ServerSettings(storage: storage)
    settings.reservedBytes = 0
    func warnings() -> [String] {
      StorageExamination(settings).run().filter { $0.topic == "disk" && $0.text.contains("are free") }
        .filter { $0.severity == .warning }.map { $0.text.contains("inodes") ? "inodes" : "bytes" }
    }
    #expect(warnings() == expected)
    try disk.empty()
    try disk.useInodes()
    let findings = StorageExamination(settings).run()
    #expect(findings.contains { $0.severity == .error && $0.text.contains("no free inodes") })
  }

  @Test func `a storage of another user and one that was restored in part are named`() throws {
    try Folder.create(storage)
    let foreign = StorageExamination(ServerSettings(storage: storage), user: CurrentUser.id + 1).run()
    #expect(foreign.count == 1 && foreign[0].text.contains("belongs to the user"))
    try DurableFile.replace(storage + "/incomplete-restore", with: [])
    let partial = StorageExamination(ServerSettings(storage: storage)).run()
    #expect(partial.contains { $0.severity == .error && $0.text.contains("only in part") })
  }

  @Test func `the age of a backup is examined`() async throws {
    try Folder.create(storage + "/bundles")
    let backup = folder.file("backup").path
    #expect(BackupExamination(backup: backup).run().severity == .error)
    let outcome = try await Product.run(["backup", backup, "--storage", storage])
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(BackupExamination(backup: backup).run().severity == .ok)
    let later = Date(timeIntervalSinceNow: 3 * 86_400)
    #expect(BackupExamination(backup: backup, now: later).run().severity == .warning)
    #expect(try await doctor(["--backup", backup]).text.contains("The last backup began at "))
  }

  @Test func `the clock and the limit of descriptors are examined`() throws {
    try Folder.create(storage)
    try DurableFile.replace(storage + "/audit.log", with: [])
    func findings(now: Int64, isSynchronized: Bool? = true, descriptors: Int = .max) -> [Finding.Severity] {
      MachineExamination(
        settings: ServerSettings(storage: storage), now: now, isSynchronized: isSynchronized,
        descriptors: descriptors
      ).run().map(\.severity)
    }
    let now = SystemClock.unixSeconds
    #expect(findings(now: now) == [.ok, .ok])
    #expect(findings(now: now - 3600) == [.error, .ok])
    #expect(findings(now: 1000) == [.error, .ok])
    #expect(findings(now: now, isSynchronized: false, descriptors: 1024) == [.warning, .warning])
    #expect(findings(now: now, isSynchronized: nil) == [.ok, .ok])
    for (time, severity) in [
      (now, Finding.Severity.ok), (now - 172_800, .warning), (now + 172_800, .warning),
    ] {
      try DurableFile.replace(storage + "/clock", with: Array(#"{"time":\#(time)}"#.utf8))
      #expect(findings(now: now) == [severity, .ok])
    }
  }

  @Test func `a proxy that decodes slashes in paths is named`() async throws {
    let token = try await Product.run(["token", "create", "--scope", "admin", "--storage", storage])
    #expect(token.status == 0)
    let server = try await TestServer(storage: folder.file("storage"))
    let port = try #require(server.url.port)
    let settings = ["SNAPSHOT_SERVER_PORT": "\(port)"]
    let faithful = try await doctor(["--url", server.url.absoluteString], environment: settings)
    #expect(faithful.text.contains("%2F in a path reaches the server unchanged"), "\(faithful.text)")
    let proxy = try Middlebox(to: UInt16(port)) { .rewrite($0.target.replacing("%2F", with: "/")) }
    let outcome = try await doctor(["--url", proxy.url.absoluteString], environment: settings)
    #expect(outcome.status == 2)
    #expect(outcome.text.contains("answers 404 to a path with %2F"), "\(outcome.text)")
  }

  @Test func `the address of a client is found in the audit logs, and a forged one is not believed`()
    async throws
  {
    let token = try await Product.run(["token", "create", "--scope", "admin", "--storage", storage])
    #expect(token.status == 0)
    let server = try await TestServer(storage: folder.file("storage"))
    let port = "\(try #require(server.url.port))"
    let outcome = try await doctor(
      ["--url", server.url.absoluteString], environment: ["SNAPSHOT_SERVER_PORT": port])
    #expect(outcome.status == 0, "\(outcome.text)")
    #expect(outcome.text.contains("The server sees this client as 127.0.0.1"))
    await server.program.stop()

    let trusting = try await TestServer(
      storage: folder.file("storage"), environment: ["SNAPSHOT_SERVER_TRUSTED_PROXIES": "127.0.0.1"])
    let port2 = "\(try #require(trusting.url.port))"
    let trusted = try await doctor(
      ["--url", trusting.url.absoluteString],
      environment: ["SNAPSHOT_SERVER_PORT": port2, "SNAPSHOT_SERVER_TRUSTED_PROXIES": "127.0.0.1"])
    #expect(trusted.status == 2)
    #expect(trusted.text.contains("does not name the client in the field Forwarded"))
    #expect(trusted.text.contains("so that they can choose their address"))
  }
}
