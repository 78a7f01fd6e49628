import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// Snapshots that are sealed on the device.
struct SealingTests {
  private var app: SampleApp
  private let identity = SealingIdentity.generate()
  private static let secret = "only the team may read this"

  init() throws {
    app = try SampleApp()
    app.configuration.sealing = .recipients([identity.recipient], head: [.application, .device])
  }

  private func recording() -> SnapshotMode {
    let mode = app.launch()
    mode.state = .recording
    mode.register(module: "News", files: ["news/feed"])
    _ = mode.process(Self.secret, "news/feed")
    return mode
  }

  @Test func `a snapshot shows its head, and only the identity opens the rest`() async throws {
    let mode = recording()
    let (zip, inner) = (app.temporary.file("a.zip"), app.temporary.file("inner.zip"))
    let packed = try await mode.makeSnapshot(
      report: ReportID(validating: "BUG-1"), note: Self.secret, fields: ["severity": Self.secret], to: zip)
    let bytes = try Data(contentsOf: zip)
    #expect(packed.sha256 == .of(bytes) && packed.size == bytes.count)
    for word in [Self.secret, "news", "News", "BUG-1", "severity"] {
      #expect(bytes.firstRange(of: Data(word.utf8)) == nil, "\(word)")
    }
    #expect(packed.manifest.application == app.configuration.application)
    #expect(packed.manifest.device == app.configuration.device)
    #expect(packed.manifest.sealed?.recipients.map(\.recipient) == [identity.recipient.description])
    #expect(try app.names(in: "frozen") == [])

    let opened = try SnapshotBundle.unseal(zip: zip, with: [identity], to: inner)
    #expect(opened.manifest.id == packed.manifest.id && opened.manifest.note == Self.secret)
    #expect(opened.manifest.recordings.map(\.identifier) == ["news/feed"])
    await #expect(throws: BundleError.self) { try await mode.activate(bundle: zip) }
  }

  @Test func `a sealed snapshot is replayed with an identity, and without one in the next launch`()
    async throws
  {
    let zip = app.temporary.file("a.zip")
    _ = try await recording().makeSnapshot(to: zip)
    let other = try SampleApp()
    let mode = other.launch()
    let wrong = await #expect(throws: BundleError.self) {
      try await mode.activate(bundle: zip, identities: [.generate()])
    }
    #expect(wrong?.description.contains("sealed to others") == true)
    #expect(try other.names(in: "snapshots") == [])

    let manifest = try await mode.activate(bundle: zip, identities: [.generate(), identity])
    #expect(manifest.recordings.map(\.identifier) == ["news/feed"])
    #expect(mode.process("live", "news/feed") == Self.secret)
    #expect(try other.names(in: "snapshots").filter { $0.hasSuffix(".zip") } == [])
    #expect(other.launch().process("live", "news/feed") == Self.secret)
  }

  @Test func `recordings on the device are replayed without a key`() {
    let mode = recording()
    mode.state = .replaying
    #expect(mode.process("live", "news/feed") == Self.secret)
  }

  @Test func `what can't be sealed is made in clear only if that is allowed`() async throws {
    var app = app
    let zip = app.temporary.file("a.zip")
    app.configuration.sealing = .recipients([])
    let required = app.launch()
    let error = await #expect(throws: BundleError.self) { try await required.makeSnapshot(to: zip) }
    #expect(error?.description.contains("no recipient") == true)
    #expect(try !Folder.exists(zip.path) && app.names(in: "frozen") == [] && app.events.all.isEmpty)

    app.configuration.sealing = .recipients([], required: false)
    let packed = try await app.launch().makeSnapshot(to: zip)
    #expect(packed.manifest.sealed == nil)
    #expect(app.events.kinds == [.notSealed])
    #expect(try SnapshotBundle.validate(zip: zip, depth: .full) == packed.manifest)
  }

  @Test func `users are told who can read what they send`() throws {
    let key = identity.recipient.abridged
    #expect(
      SnapshotMode.Sealing.recipients([identity.recipient]).summary
        == "Snapshots are sealed on this device: only the owner of the key \(key) can read them.")
    let five = SnapshotMode.Sealing.recipients(Array(repeating: identity.recipient, count: 5))
    #expect(five.summary.contains("the owners of the keys \(key), \(key), \(key) and 2 more can"))
    #expect(SnapshotMode.Sealing.recipients([]).summary.hasPrefix("Nothing can be sent"))
    #expect(SnapshotMode.Sealing.recipients([], required: false).summary.contains("not sealed"))
    #expect(app.launch().sealing == app.configuration.sealing)
  }
}

/// The lines of the article, as they are printed.
struct SealingArticleTests {
  private static let article = "Sources/App/DataSnapshots/DataSnapshots.docc/SealingOnTheDevice.md"

  @Test func `the article's lines work`() async throws {
    let folder = try TemporaryFolder()
    let zip = folder.file("a.zip")
    // example: Sealing begin
    let team = try SealingRecipient("age1zvkyg2lqzraa2lnjvqej32nkuu0ues2s82hzrye869xeexvn73equnujwj")
    var sealed = SnapshotMode.Configuration()
    sealed.sealing = .recipients([team], required: true, head: [.application, .device])
    // example: Sealing end

    let snapshots = SnapshotMode(folder: folder.file("app"), configuration: sealed)
    snapshots.state = .recording
    _ = snapshots.process("recorded", "news/feed")
    _ = try await snapshots.makeSnapshot(to: zip)
    let keys = try folder.write(
      Data("AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX".utf8), to: "keys")
    // example: Opening begin
    let file = try IdentityFile(Array(Data(contentsOf: keys)))
    let opened = try await snapshots.activate(bundle: zip, identities: file.identities)
    // example: Opening end
    #expect(opened.recordings.count == 1)
    #expect(snapshots.process("live", "news/feed") == "recorded")
  }

  @Test(arguments: ["Sealing", "Opening"]) func `the article contains exactly these lines`(marker: String)
    throws
  {
    try DocumentedExample.check(article: Self.article, code: #filePath, marker: marker)
  }
}
