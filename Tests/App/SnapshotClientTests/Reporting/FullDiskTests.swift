import Foundation
import SnapshotClient
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// Attaching on a real full disk.
@Suite(.timeLimit(.minutes(5)), .enabled("\(SmallDisk.requirement)") { await SmallDisk.isPossible })
struct FullDiskTests {
  private let disk: SmallDisk
  private let fixture: ReportingFixture

  init() async throws {
    disk = try await SmallDisk()
    fixture = try ReportingFixture()
    // Random bytes, which packing does not compress.
    var generator = SystemRandomNumberGenerator()
    let bytes = Data((0..<20_000).map { _ in UInt8.random(in: 0...255, using: &generator) })
    try fixture.folder.write(bytes, to: "recorded")
  }

  private var queue: URL { disk.file("queue") }

  @Test func `with any amount of free space, a bundle is attached completely or not at all`() async throws {
    let reporter = try fixture.reporter(UploadTransport(), at: queue) { $0.network = .onlyWiFi { false } }
    var attached: Set<SnapshotID> = []
    var failures = 0
    for pages in 0..<16 {
      try disk.fill(leaving: Int64(pages) * 4096)
      let error = await reportingError { attached.insert(try await reporter.attach(report: fixture.report)) }
      if let error { #expect("\(error)".lowercased().contains("no space left"), "\(error)") }
      failures += error == nil ? 0 : 1
      #expect(Set(reporter.queue.items.map(\.id)) == attached, "\(pages) pages")
      let files = attached.flatMap { ["items/\($0)/bundle.zip", "items/\($0)/state.json"] }
      #expect(try fixture.files(at: queue) == files.sorted())
    }
    #expect(failures > 4 && attached.count > 4)
    await reporter.queue.close()

    // Even without any free bytes, the next launch finds and uploads the bundles.
    try disk.fill()
    let transport = UploadTransport()
    let next = try fixture.reporter(transport, at: queue)
    #expect(next.queue.unreadable.isEmpty)
    for id in attached { #expect(await next.queue.outcome(of: id)?.state == .done) }
    #expect(Set(transport.taken.keys) == attached)
    for bundle in transport.taken.values {
      let zip = try fixture.folder.write(bundle, to: "taken.zip")
      _ = try SnapshotBundle.validate(zip: zip, depth: .full)
    }
    await next.queue.close()
  }

  @Test func `a queue whose disk was full continues when there is room`() async throws {
    let transport = UploadTransport()
    let reporter = try fixture.reporter(transport, at: queue)
    try disk.fill()
    let error = await reportingError { try await reporter.attach(report: fixture.report) }
    #expect(error != nil)
    #expect(reporter.queue.items.isEmpty)
    try disk.empty()
    let id = try await reporter.attach(report: fixture.report)
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    #expect(transport.taken.keys.map(\.self) == [id])
    await reporter.queue.close()
  }
}
