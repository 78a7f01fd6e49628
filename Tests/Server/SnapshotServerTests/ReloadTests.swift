import AccessControl
import Foundation
import HTTPEngine
import HTTPTLS
import HTTPTypes
import Logging
import ServerTesting
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Settings that a server takes while it runs.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct ReloadTests {
  private let folder: TemporaryFolder
  private var settings: ServerSettings { ServerSettings(port: 0, storage: folder.file("storage").path) }

  init() throws { folder = try TemporaryFolder() }

  private func withApplication(
    _ settings: ServerSettings? = nil, _ body: (ServerApplication) async throws -> Void
  ) async throws {
    let application = try await ServerApplication.open(
      settings ?? self.settings, version: "1", logger: Logger(label: "test") { _ in CapturedLog() })
    try await application.start()
    do {
      try await body(application)
    } catch {
      await application.close()
      throw error
    }
    await application.close()
  }

  private func status(_ application: ServerApplication, _ fields: HTTPFields) async throws -> Int {
    let request = HTTPServerRequest(method: .get, path: "/v1/snapshots", headerFields: fields)
    do {
      return try await application.handler.respond(to: request).status.code
    } catch let problem as HTTPProblem {
      return problem.status.code
    }
  }

  @Test func `a rate applies to the next request`() async throws {
    let (_, secret) = try TokenStore(storage: settings.storage).create(.init(scopes: [.admin]))
    let fields: HTTPFields = [.authorization: "Bearer \(secret)"]
    try await withApplication { application in
      for _ in 0..<3 { #expect(try await status(application, fields) == 200) }
      var changed = settings
      changed.requestsPerToken = RateLimit("1/d")
      try await application.reload(changed)
      #expect(try await status(application, fields) == 200)
      #expect(try await status(application, fields) == 429)
      try await application.reload(settings)
      #expect(try await status(application, fields) == 200)
    }
  }

  @Test func `retention rules and the quota apply without a restart`() async throws {
    try await withApplication { application in
      let store = application.storage.store
      try await attach(to: application)
      #expect(try await plan(application).isEmpty)
      var changed = settings
      changed.retention.rules.limits.totalBytes = 1
      changed.retention.quotaBytes = 1
      changed.retention.interval = .month
      changed.retention.scrubInterval = nil
      try await application.reload(changed)
      #expect(try await plan(application).count == 1)
      let other = try await store.beginUpload()
      await #expect(throws: StoreError.self) {
        try await other.append(IOBuffer(try ZippedSample("other").bytes[...]))
        _ = try await other.commit(Attachment(report: ReportID(validating: "BUG-1")))
      }
    }
  }

  @discardableResult
  private func attach(to application: ServerApplication) async throws -> SnapshotID {
    let upload = try await application.storage.store.beginUpload()
    try await upload.append(IOBuffer(try ZippedSample("kept").bytes[...]))
    return try await upload.commit(Attachment(report: ReportID(validating: "BUG-1"))).record.id
  }

  @Test func `the interval of expirations alone can change`() async throws {
    var settings = settings
    settings.retention.rules.limits.totalBytes = 1
    settings.retention.interval = .month
    try await withApplication(settings) { application in
      try await eventually { application.maintenance.isActive }
      try await attach(to: application)
      #expect(try await plan(application).count == 1)
      settings.retention.interval = try #require(TimeSpan("1s"))
      try await application.reload(settings)
      try await eventually { try await application.storage.store.allRecords().isEmpty }
    }
  }

  enum Verification: CaseIterable { case interval, rate }

  @Test(arguments: Verification.allCases)
  func `the interval or the rate of verifications alone can change`(changed: Verification) async throws {
    var settings = settings
    settings.retention.scrubInterval = changed == .rate ? TimeSpan("1s") : .month
    settings.retention.scrubBytesPerSecond = changed == .rate ? 1 : 1 << 30
    try await withApplication(settings) { application in
      try await eventually { application.maintenance.isActive }
      let id = try await attach(to: application)
      let bundle = try File("\(settings.storage)/bundles/\(id.description.prefix(2))/\(id).zip", .update)
      try bundle.write([1], at: bundle.size / 2)
      settings.retention.scrubInterval = TimeSpan("1s")
      settings.retention.scrubBytesPerSecond = 1 << 30
      try await application.reload(settings)
      try await eventually { try await application.storage.store.record(id).verified == .damaged }
    }
  }

  private func plan(_ application: ServerApplication) async throws -> [Any] {
    let response = try await application.handler.respond(
      to: HTTPServerRequest(method: .get, path: "/v1/expirations"))
    guard case .bytes(let bytes) = response.body else { return [] }
    let answer = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    return answer?["expirations"] as? [Any] ?? []
  }

  @Test(.enabled(if: Tool.find("openssl") != nil, "openssl isn't installed"))
  func `other files of certificates are used, and HTTPS is not turned on or off`() async throws {
    let maker = try CertificateMaker()
    func settings(_ name: String?) async throws -> ServerSettings {
      var settings = self.settings
      guard let name else { return settings }
      let pair = try await maker.make("\(name).test", as: name)
      (settings.tls.certificates, settings.tls.keys) = ([pair.certificate], [pair.key])
      return settings
    }
    let (none, first, second) = try await (settings(nil), settings("first"), settings("second"))
    let application = try await ServerApplication.open(
      first, version: "1", logger: Logger(label: "test") { _ in CapturedLog() })
    let port = try await application.start().port
    func name() async throws -> String? {
      try await RawHTTPClient.run { try RawHTTPClient(port: port, tls: .init()).session?.serverCommonName }
    }
    #expect(try await name() == "first.test")
    try await application.reload(second)
    #expect(try await name() == "second.test")
    var mixed = first
    mixed.tls.keys = second.tls.keys
    for invalid in [none, mixed] {
      await #expect(throws: TLSError.self) { try await application.reload(invalid) }
      #expect(try await name() == "second.test")
    }
    await application.close()
    try await withApplication { application in
      await #expect(throws: TLSError.self) { try await application.reload(first) }
    }
  }

  @Test(.enabled(if: Tool.find("openssl") != nil, "openssl isn't installed"))
  func `files that were named later are the ones that are read when they change`() async throws {
    let maker = try CertificateMaker()
    func source(_ name: String) async throws -> ServerCertificates.Source {
      let pair = try await maker.make("\(name).test", as: name)
      return { TLSConfiguration(files: [TLSFiles(certificate: pair.certificate, key: pair.key)]) }
    }
    let certificates = try await ServerCertificates(source("former"), logger: .quiet)
    try await certificates.prepareReload(source("latter"))()
    for _ in 0..<2 {
      var pins = certificates.tls.pins
      _ = try await maker.make("renewed.test", as: "latter")
      certificates.reloadIfChanged()
      #expect(certificates.tls.pins != pins)
      pins = certificates.tls.pins
      _ = try await maker.make("renewed.test", as: "former")
      certificates.reloadIfChanged()
      #expect(certificates.tls.pins == pins)
    }
  }

  @Test(.enabled(if: Tool.find("openssl") != nil, "openssl isn't installed"))
  func `certificates that could not be used yet are read again, and the failure is logged once`() async throws
  {
    let maker = try CertificateMaker()
    let pair = try await maker.make("first.test", as: "server")
    let calls = Lock(0)
    let log = CapturedLog()
    // Each time, the source is asked whether the files have changed, and again when they are read, which fails at first.
    let source: ServerCertificates.Source = { () throws(TLSError) in
      let isFailing = calls.withLock { calls in
        calls += 1
        return calls < 8 && calls > 1 && calls % 2 == 1
      }
      if isFailing { throw TLSError("It is not valid yet.") }
      return TLSConfiguration(files: [TLSFiles(certificate: pair.certificate, key: pair.key)])
    }
    let certificates = try ServerCertificates(source, logger: Logger(label: "test") { _ in log })
    let pins = certificates.tls.pins
    _ = try await maker.make("second.test", as: "server")
    for _ in 0..<3 { certificates.reloadIfChanged() }
    #expect(certificates.tls.pins == pins)
    #expect(log.lines.count { $0.hasPrefix("error") } == 1)
    certificates.reloadIfChanged()
    #expect(certificates.tls.pins != pins)
  }

  @Test func `a self-signed certificate is renewed, and its key remains`() async throws {
    var settings = settings
    settings.tls.selfSigned = true
    let source = try #require(try settings.certificateSource())
    let files = try #require(try source().files.first)
    let key = try Data(contentsOf: URL(filePath: files.key))
    // A certificate that ends in 40 days.
    let old = try SelfSignedCertificate.make(
      names: ["old.test"], key: Array(key),
      now: Date() - TimeInterval(SelfSignedCertificate.days - 40) * 86_400)
    try Data(old.certificate).write(to: URL(filePath: files.certificate))
    _ = try source()
    #expect(try Data(contentsOf: URL(filePath: files.certificate)) != Data(old.certificate))
    #expect(try Data(contentsOf: URL(filePath: files.key)) == key)
  }

  @Test func `a store without quotas refuses one, and takes the other settings`() async throws {
    let application = ServerApplication(
      settings, storage: ServerStorage(InMemoryStore(validator: .samples), catalog: InMemoryCatalog()),
      logger: .quiet)
    var changed = settings
    changed.retention.rules.limits.totalBytes = 1
    changed.retention.quotaBytes = 1
    await #expect(throws: ServerError.self) { try await application.reload(changed) }
    #expect(application.maintenance.reaper.rules.limits.totalBytes == nil)
    changed.retention.quotaBytes = nil
    try await application.reload(changed)
    #expect(application.maintenance.reaper.rules.limits.totalBytes == 1)
    await application.close()
  }

  @Test func `if one part refuses its settings, no part changes`() async throws {
    struct Refusal: Error {}
    try await withApplication { application in
      try await attach(to: application)
      var changed = settings
      changed.retention.rules.limits.totalBytes = 1
      await #expect(throws: Refusal.self) {
        try await application.reload(changed, with: [ReloadablePart { _ in throw Refusal() }])
      }
      #expect(try await plan(application).isEmpty)
      try await application.reload(changed, with: [ReloadablePart { _ in }])
      #expect(try await plan(application).count == 1)
    }
  }
}
