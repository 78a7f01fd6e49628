import Foundation
import SnapshotFormat
import SnapshotSealing
import SystemIO
import TestSupport
import Testing
import ZipArchive

@Suite struct SealedBundleTests {
  private let sample: SampleSnapshot
  private let identity = SealingIdentity.generate()
  private var sealed: URL { sample.temporary.file("sealed.zip") }
  private var inner: URL { sample.temporary.file("inner.zip") }

  /// Words that the contents have, and that the head shows only where that is asked for.
  private static let secrets = [
    "hiddenidentifier", "hiddenmodule", "hiddennote", "hiddenfield", "hiddenvalue", "hiddenfile",
    "hiddenrule",
    "hiddencontents",
  ]

  init() throws {
    var sample = try SampleSnapshot([
      "hiddenidentifier": Data("hiddencontents".utf8),
      "b": Data((0..<200_000).map { _ in UInt8.random(in: 0...255) }),
    ])
    try sample.temporary.write(Data("x".utf8), to: "snapshot/attachments/hiddenfile.txt")
    sample.manifest.modules = [Module(name: "hiddenmodule", files: ["hiddenidentifier"])]
    sample.manifest.note = "hiddennote"
    sample.manifest.fields = ["hiddenfield": "hiddenvalue"]
    sample.manifest.redactions = ["hiddenrule"]
    sample.manifest.report = ReportID("BUG-1")
    try sample.writeManifest()
    _ = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
    self.sample = sample
  }

  @discardableResult
  private func seal(_ parts: Set<Manifest.HeadPart> = .usual) throws -> SnapshotBundle.Packed {
    try SnapshotBundle.seal(zip: sample.zip, to: [identity.recipient], showing: parts, to: sealed)
  }

  private func text(of url: URL) throws -> String {
    String(decoding: try Data(contentsOf: url), as: UTF8.self)
  }

  @Test func `a sealed bundle shows its head and opens to the same bytes`() throws {
    let packed = try seal()
    let head = packed.manifest
    #expect(head.formatVersion == 2 && head.id == sample.manifest.id)
    #expect(head.application == SampleSnapshot.application && head.device == SampleSnapshot.device)
    #expect(head.sealed?.recipients == [.init(type: "X25519", recipient: identity.recipient.description)])
    #expect(head.report == nil && head.modules.isEmpty && head.note == nil && head.fields.isEmpty)
    #expect(try Int(packed.size) == Data(contentsOf: sealed).count)
    #expect(try SnapshotBundle.validate(zip: sealed, depth: .full) == head)
    #expect(SnapshotBundle.sealedContents(of: sealed) == head.sealed)

    let opened = try SnapshotBundle.unseal(zip: sealed, with: [identity], to: inner)
    #expect(try Data(contentsOf: inner) == Data(contentsOf: sample.zip))
    #expect(opened.manifest.note == "hiddennote" && opened.size == head.sealed?.size)
    let mode = try FileManager.default.attributesOfItem(atPath: inner.path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test func `a bundle can be opened in its own place`() throws {
    try seal()
    _ = try SnapshotBundle.unseal(zip: sealed, with: [identity], to: sealed)
    #expect(try Data(contentsOf: sealed) == Data(contentsOf: sample.zip))
  }

  @Test func `only what the head shows is in the clear`() throws {
    try seal([])
    #expect(Self.secrets.filter(try text(of: sealed).contains) == [])
    #expect(try !text(of: sealed).contains("com.example.news"))
    let head = try SnapshotBundle.validate(zip: sealed, depth: .full)
    #expect(head.application == .hidden && head.device == .hidden)

    try seal([.modules])
    let names = try SnapshotBundle.validate(zip: sealed, depth: .full).modules
    #expect(names == [Module(name: "hiddenmodule", files: [])])

    try seal(Set(Manifest.HeadPart.allCases))
    let whole = try SnapshotBundle.validate(zip: sealed, depth: .full)
    #expect(whole.note == "hiddennote" && whole.fields == ["hiddenfield": "hiddenvalue"])
    #expect(whole.modules == sample.manifest.modules && whole.redactions == ["hiddenrule"])
    #expect(whole.sealed?.identifiers == ["b", "hiddenidentifier"] && whole.sealed?.recordingCount == 2)
    #expect(whole.report == ReportID("BUG-1"))
  }

  @Test func `a sealed bundle is not read as a snapshot`() throws {
    try seal()
    let isSealed = { (error: any Error) in if case .sealed = error as? BundleError { true } else { false } }
    #expect { try OpenSnapshot(zip: sealed) } throws: { isSealed($0) }
    #expect { try SnapshotBundle.unpack(zip: sealed, into: sample.temporary.file("a")) } throws: {
      isSealed($0)
    }
    #expect { try ContainerTree(snapshot: sealed) } throws: { "\($0)".contains("sealed") }
    #expect { try SnapshotBundle.seal(zip: sealed, to: [identity.recipient], to: inner) } throws: {
      isSealed($0)
    }
    #expect(throws: BundleError.self) {
      try SnapshotBundle.unseal(zip: sample.zip, with: [identity], to: inner)
    }
  }

  @Test func `what can't be opened leaves nothing behind`() throws {
    try seal()
    let before = try sample.leftovers().sorted()
    let stranger = SealingIdentity.generate()
    for (identities, words) in [([stranger], "sealed to others"), ([], "An identity is needed")] {
      let error = #expect(throws: BundleError.self) {
        try SnapshotBundle.unseal(zip: sealed, with: identities, to: inner)
      }
      #expect(try #require(error).description.contains(words))
    }
    #expect(try sample.leftovers().sorted() == before)
  }

  /// Changes the age file, with the checksum of its entry, and opens the result.
  private func failure(ofChange change: (inout [UInt8]) -> Void) throws -> String {
    try seal()
    let directory = try ZipReader(File(sealed.path), profile: .strict)
    let manifest = try directory.contents(
      of: try #require(directory.entry(named: "manifest.json")), upTo: 1 << 20)
    var age = try directory.contents(of: try #require(directory.entry(named: "sealed.age")), upTo: 1 << 20)
    change(&age)
    let changed = sample.temporary.file("changed.zip")
    try Folder.removeIfPresent(changed.path)
    let writer = ZipWriter(try File(changed.path, .create(mode: 0o600)), level: 0)
    try writer.add("manifest.json", bytes: manifest)
    try writer.add("sealed.age", bytes: age)
    try writer.finish()
    let before = try sample.leftovers().sorted()
    defer { #expect((try? sample.leftovers().sorted()) == before) }
    let error = #expect(throws: BundleError.self) {
      try SnapshotBundle.unseal(zip: changed, with: [identity], to: inner)
    }
    return error?.description ?? ""
  }

  @Test func `each damage has its sentence`() throws {
    let header = try #require(try SealedHeader.parse(try Sealer(to: [identity.recipient]).header)).size
    let chunk = 65_552
    let first = header + 16
    #expect(try failure { $0[first + 5] ^= 1 }.contains("Chunk 1 of the sealed file is damaged"))
    #expect(try failure { $0[$0.count - 1] ^= 1 }.contains("The last chunk"))
    #expect(
      try failure { age in
        let (one, two) = (Array(age[first..<first + chunk]), Array(age[first + chunk..<first + 2 * chunk]))
        age.replaceSubrange(first..<first + 2 * chunk, with: two + one)
      }.contains("were reordered"))
    #expect(try failure { $0.removeLast(3) }.contains("are needed for"))
    #expect(try failure { $0 += [0] }.contains("are needed for"))
    #expect(try failure { $0[0] = 0 }.contains("not a sealed file"))
    // The code that authenticates the header.
    #expect(try failure { $0[header - 10] = $0[header - 10] == 65 ? 66 : 65 }.contains("The header"))
  }

  /// Writes a bundle with this head and these entries, and checks it.
  private func refusal(_ head: String, _ entries: [(name: String, bytes: [UInt8], isDeflated: Bool)]) throws
    -> String
  {
    let zip = sample.temporary.file("made.zip")
    try Folder.removeIfPresent(zip.path)
    let file = try File(zip.path, .create(mode: 0o600))
    let writer = ZipWriter(file)
    try writer.add("manifest.json", bytes: Array(head.utf8))
    for (name, bytes, isDeflated) in entries {
      if isDeflated {
        try writer.add(name, bytes: bytes)
      } else {
        var entry = try writer.beginStored(name, size: Int64(bytes.count))
        try entry.write(bytes)
        try writer.finish(entry)
      }
    }
    try writer.finish()
    return #expect(throws: BundleError.self) { try SnapshotBundle.validate(zip: zip, depth: .structure) }?
      .description ?? ""
  }

  private static func head(_ sealed: String, more: String = "") -> String {
    """
    {"formatVersion":2,"id":"3f2b8c1e-5d6f-4a7b-8c9d-0e1f2a3b4c5d","createdAt":"2026-11-21T15:04:05.678Z"\(more),\
    "sealed":\(sealed)}
    """
  }

  @Test func `the entries of a sealed bundle are those that its head describes`() throws {
    var sealer = try Sealer(to: [identity.recipient])
    let age = try sealer.header + sealer.finish()
    let right = Self.head(#"{"recipients":[{"type":"X25519"}],"size":0}"#)
    let entry = ("sealed.age", age, false)
    #expect(try refusal(right, []).contains("has no sealed.age"))
    #expect(try refusal(right, [entry, ("recordings/a", [1], false)]).contains("it contains ‘recordings/a’"))
    #expect(
      try refusal(right, [("sealed.age", [UInt8](repeating: 0, count: 5000), true)]).contains("is compressed")
    )
    #expect(try refusal(right, [("sealed.age", [UInt8](repeating: 0, count: 50), false)]).contains("age"))
    #expect(
      try refusal(Self.head(#"{"recipients":[{"type":"ssh-rsa"}],"size":0}"#), [entry])
        .contains("names other recipients"))
    #expect(
      try refusal(Self.head(#"{"recipients":[{"type":"X25519"}],"size":1}"#), [entry]).contains(
        "are needed for 1 bytes"))
    #expect(try refusal(Self.head("{}"), [entry]).contains("‘sealed.recipients’ is missing"))
    #expect(try refusal(Self.head(#"{"recipients":[],"size":0}"#), [entry]).contains("1 to 32"))
    #expect(
      try refusal(Self.head(#"{"recipients":[{"type":3}],"size":0}"#), [entry]).contains("recipients[0].type")
    )
    #expect(
      try refusal(Self.head(#"{"recipients":[{"type":"X25519"}],"size":-1}"#), [entry]).contains(
        "sealed.size"))
    #expect(
      try refusal(
        Self.head(#"{"recipients":[{"type":"X25519"}],"size":9223372036854775807}"#), [entry]
      ).contains("sealed.size"))
    #expect(
      try refusal(
        Self.head(#"{"recipients":[{"type":"X25519"}],"size":0}"#, more: #","recordings":[]"#), [entry]
      )
      .contains("recordings"))
    #expect(
      try refusal(right.replacing(#""formatVersion":2"#, with: #""formatVersion":3"#), [entry])
        .contains("format version 3; this software reads versions up to 2"))
  }

  @Test func `a head has at most as many recipients and bytes as its limits say`() throws {
    func manifest(_ count: Int, length: Int) -> Manifest {
      var head = Manifest(
        id: SnapshotID(), createdAt: SampleSnapshot.time, application: .hidden, device: .hidden)
      head.formatVersion = Manifest.sealedFormatVersion
      let recipient = SealedContents.Recipient(
        type: "X25519", recipient: String(repeating: "a", count: length))
      head.sealed = SealedContents(recipients: Array(repeating: recipient, count: count), size: 1)
      return head
    }
    for (count, length) in [(1, 2048), (32, 1)] {
      let head = manifest(count, length: length)
      #expect(try Manifest(json: head.json()) == head)
    }
    for (count, length) in [(0, 1), (33, 1), (1, 2049)] {
      #expect(throws: BundleError.self) { try manifest(count, length: length).json() }
    }
    #expect(throws: BundleError.self) {
      try SnapshotBundle.seal(
        zip: sample.zip, to: Array(repeating: identity.recipient, count: 33), to: sealed)
    }
  }

  @Test func `a head that is not that of the contents is refused`() throws {
    try seal()
    let reader = try ZipReader(File(sealed.path))
    let json = try reader.contents(of: try #require(reader.entry(named: "manifest.json")), upTo: 1 << 20)
    let age = try reader.contents(of: try #require(reader.entry(named: "sealed.age")), upTo: 1 << 20)
    let other = sample.temporary.file("other.zip")
    let writer = ZipWriter(try File(other.path, .create(mode: 0o600)), level: 0)
    try writer.add(
      "manifest.json",
      bytes: Array(String(decoding: json, as: UTF8.self).replacing("com.example.news", with: "x").utf8))
    try writer.add("sealed.age", bytes: age)
    try writer.finish()
    _ = try SnapshotBundle.validate(zip: other, depth: .full)
    let error = #expect(throws: BundleError.self) {
      try SnapshotBundle.unseal(zip: other, with: [identity], to: inner)
    }
    #expect(error?.description.contains("clear head") == true)
    #expect(!FileManager.default.fileExists(atPath: inner.path))
  }

  @Test func `a member called sealed of a snapshot that is not sealed is kept`() throws {
    var manifest = sample.manifest
    manifest.unknown["sealed"] = .string("by wax")
    let copy = try Manifest(json: manifest.json())
    #expect(copy.sealed == nil && copy.unknown["sealed"] == .string("by wax"))
  }

  // MARK: - Rewrapping

  private var rewrapped: URL { sample.temporary.file("rewrapped.zip") }

  private func payload(of zip: URL) throws -> ArraySlice<UInt8> {
    let reader = try ZipReader(File(zip.path))
    let age = try reader.contents(of: try #require(reader.entry(named: "sealed.age")), upTo: 1 << 20)
    return age[(try #require(try SealedHeader.parse(age)).size)...]
  }

  @Test func `a bundle is sealed to a further recipient without a change of its contents`() throws {
    try seal()
    let friend = SealingIdentity.generate()
    let packed = try SnapshotBundle.rewrap(
      zip: sealed, with: [identity], to: [friend.recipient], removingOthers: false, to: rewrapped)
    let head = packed.manifest
    #expect(head.id != sample.manifest.id)
    #expect(head.sealed?.rewrapped == sample.manifest.id && head.sealed?.bundle == sample.manifest.id)
    #expect(
      head.sealed?.recipients.map(\.recipient) == [
        identity.recipient.description, friend.recipient.description,
      ])
    #expect(try payload(of: rewrapped) == payload(of: sealed))
    for key in [identity, friend] {
      _ = try SnapshotBundle.unseal(zip: rewrapped, with: [key], to: inner)
      #expect(try Data(contentsOf: inner) == Data(contentsOf: sample.zip))
    }
    let again = sample.temporary.file("again.zip")
    let second = try SnapshotBundle.rewrap(
      zip: rewrapped, with: [friend], to: [friend.recipient], removingOthers: true, to: again)
    #expect(
      second.manifest.sealed?.rewrapped == head.id && second.manifest.sealed?.bundle == sample.manifest.id)
    #expect(second.manifest.sealed?.recipients.map(\.recipient) == [friend.recipient.description])
    #expect(throws: BundleError.self) { try SnapshotBundle.unseal(zip: again, with: [identity], to: inner) }
    #expect(
      try SnapshotBundle.unseal(zip: again, with: [friend], to: inner).manifest.id == sample.manifest.id)
  }

  @Test func `a damaged bundle is not sealed again`() throws {
    try seal()
    var bytes = try Data(contentsOf: sealed)
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: sealed)
    #expect(throws: BundleError.self) {
      try SnapshotBundle.rewrap(
        zip: sealed, with: [identity], to: [identity.recipient], removingOthers: false, to: rewrapped)
    }
    #expect(!FileManager.default.fileExists(atPath: rewrapped.path))
  }

  // MARK: - The record

  @Test func `the record of a sealed bundle has what its head shows`() throws {
    try seal([.application])
    let summary = try SnapshotBundle.check(zip: sealed, depth: .full)
    #expect(summary.problemCount == nil && summary.recordingCount == 0 && summary.identifiers == [])
    let record = SnapshotRecord(
      id: sample.manifest.id, report: ReportID("BUG-1")!, size: 1, sha256: .of([]),
      receivedAt: SampleSnapshot.time,
      verified: .intact, summary: summary)
    #expect(record.sealed?.recipients.first?.type == "X25519" && record.completeness == nil)
    let copy = try SnapshotJSON.decode(SnapshotRecord.self, from: SnapshotJSON.encode(record))
    #expect(copy == record)

    try seal([.identifiers, .modules])
    let shown = try SnapshotBundle.check(zip: sealed, depth: .structure)
    #expect(shown.recordingCount == 2 && shown.identifiers == ["b", "hiddenidentifier"])
    let whole = SnapshotRecord(
      id: sample.manifest.id, report: ReportID("BUG-1")!, size: 1, sha256: .of([]),
      receivedAt: SampleSnapshot.time,
      verified: .intact, summary: shown)
    #expect(whole.sealed?.identifiers == nil && whole.completeness == .init(complete: 1, total: 1))
  }

  // MARK: - Without this software

  @Test(.enabled(if: Tool.find("age") != nil && Tool.find("unzip") != nil, "age or unzip isn't installed"))
  func `unzip and age open a sealed bundle`() async throws {
    try seal()
    let key = sample.temporary.file("key")
    try Data(IdentityFile.contents(of: identity, createdAt: "2026-11-21T15:04:05Z").utf8).write(to: key)
    let command = "unzip -p '\(sealed.path)' sealed.age | age -d -i '\(key.path)' > '\(inner.path)'"
    let outcome = try await Tool.run("sh", ["-c", command])
    try #require(outcome.status == 0, "\(outcome.errors)")
    #expect(try Data(contentsOf: inner) == Data(contentsOf: sample.zip))
  }
}
