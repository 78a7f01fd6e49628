import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing
import ZipArchive

/// Reading and writing bundles enforces the strict profile of ZIP.
@Suite struct BundleProfileTests {
  /// The zip of a sample with an additional entry, whose two headers can be changed.
  private func zip(
    _ sample: SampleSnapshot, _ name: String, _ data: [UInt8] = [1, 2],
    _ change: (_ bytes: inout [UInt8], _ header: Int, _ isCentral: Bool) -> Void = { _, _, _ in }
  ) throws -> URL {
    let zip = try sample.zipUnchecked(extra: [name: Data(data)])
    var bytes = Array(try Data(contentsOf: zip))
    let text = Array(name.utf8)
    for (signature, nameOffset) in [([0x50, 0x4B, 3, 4], 30), ([0x50, 0x4B, 1, 2], 46)] as [([UInt8], Int)] {
      let header = try #require(
        bytes.indices.first {
          bytes[$0...].starts(with: signature) && bytes[$0...].dropFirst(nameOffset).starts(with: text)
        })
      change(&bytes, header, nameOffset == 46)
    }
    try Data(bytes).write(to: zip)
    return zip
  }

  /// The error in the bundle at `zip`, which must be the same for all ways of reading it.
  private func refusal(_ zip: URL, _ sample: SampleSnapshot) -> ZipError.Reason? {
    let copy = sample.temporary.file("copy")
    let reasons = [
      reason { () throws(BundleError) in _ = try SnapshotBundle.validate(zip: zip, depth: .structure) },
      reason { () throws(BundleError) in _ = try SnapshotBundle.check(zip: zip, depth: .full) },
      reason { () throws(BundleError) in _ = try OpenSnapshot(zip: zip) },
      reason { () throws(BundleError) in _ = try SnapshotBundle.unpack(zip: zip, into: copy) },
    ]
    #expect(Set(reasons).count == 1, "\(reasons)")
    return reasons[0]
  }

  private func reason(_ body: () throws(BundleError) -> Void) -> ZipError.Reason? {
    do throws(BundleError) {
      try body()
    } catch {
      if case .archive(let error) = error { return error.reason }
      Issue.record("\(error)")
    }
    return nil
  }

  @Test(
    arguments: [
      ("attachments/a:b", .name(.colon)), ("app-data/Library/a\\b", .name(.backslash)),
      ("app-data/CON", .name(.deviceName)), ("attachments/LOG.txt.", .duplicateName),
      ("attachments/log\u{200D}.txt", .duplicateName),
    ] as [(String, ZipError.Reason)])
  func `a name with another meaning on another system is rejected`(
    name: String, expected: ZipError.Reason
  ) throws {
    let sample = try SampleSnapshot()
    #expect(refusal(try zip(sample, name), sample) == expected)
  }

  @Test func `a name that is not marked as UTF-8 is rejected`() throws {
    let sample = try SampleSnapshot()
    let zip = try zip(sample, "attachments/é") { bytes, header, isCentral in
      bytes[header + (isCentral ? 9 : 7)] &= ~8
    }
    #expect(refusal(zip, sample) == .name(.unmarkedUnicode))
    #expect(try ZipReader(File(zip.path)).entries.contains { $0.name == "attachments/é" })
  }

  @Test func `encryption and unsupported compression methods are rejected`() throws {
    let sample = try SampleSnapshot()
    let encrypted = try zip(sample, "attachments/x") { bytes, header, isCentral in
      bytes[header + (isCentral ? 8 : 6)] |= 1
    }
    #expect(refusal(encrypted, sample) == .encrypted)
    let other = try zip(sample, "attachments/x") { bytes, header, isCentral in
      bytes[header + (isCentral ? 10 : 8)] = 12
    }
    #expect(refusal(other, sample) == .unsupportedMethod(12))
  }

  @Test func `a bundle that was accepted before the profile existed can still be read`() throws {
    let sample = try SampleSnapshot()
    let bundle = try CheckedBundle(File(zip(sample, "attachments/a:b").path))
    #expect(try bundle.entry(at: "attachments/a:b")?.size == 2)
  }

  @Test func `the data of folders is verified like that of files`() throws {
    func zipped(_ sample: SampleSnapshot, _ data: [UInt8]) throws -> URL {
      try zip(sample, "app-data/x_", data) { bytes, header, isCentral in
        // An empty folder, deflated to `data`.
        let common = header + (isCentral ? 6 : 4)
        bytes[common + 4] = 8
        for index in (common + 10)..<(common + 14) { bytes[index] = 0 }
        for index in (common + 18)..<(common + 22) { bytes[index] = 0 }
        bytes[header + (isCentral ? 46 : 30) + 10] = UInt8(ascii: "/")
        if isCentral { bytes.replaceSubrange((header + 38)..<(header + 42), with: [0x10, 0, 0o355, 0x41]) }
      }
    }
    let sample = try SampleSnapshot()
    let copy = sample.temporary.file("copy")
    let good = try zipped(sample, [3, 0])
    _ = try SnapshotBundle.validate(zip: good, depth: .full)
    _ = try SnapshotBundle.unpack(zip: good, into: copy)
    #expect(Folder.isFolder(copy.path + "/app-data/x"))
    try Folder.removeTree(copy.path)

    let bad = try zipped(sample, [7, 7])
    _ = try SnapshotBundle.validate(zip: bad, depth: .structure)
    #expect(
      reason { () throws(BundleError) in _ = try SnapshotBundle.validate(zip: bad, depth: .full) }
        == .corruptData)
    #expect(
      reason { () throws(BundleError) in _ = try SnapshotBundle.unpack(zip: bad, into: copy) } == .corruptData
    )
    #expect(try sample.leftovers() == ["snapshot", "snapshot.zip"])
  }

  @Test func `a name that would be rejected is packed encoded`() throws {
    let names = [
      "app-data/Library/a:b": "%%a%3ab", "attachments/nul.txt": "%%%6eul.txt", "attachments/x\\y": "%%x%5cy",
      "attachments/LOG.txt ": "%%^l^o^g.txt%20",
    ]
    for (name, encoded) in names {
      let sample = try SampleSnapshot()
      try sample.temporary.write(Data("x".utf8), to: "snapshot/" + name)
      _ = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
      _ = try SnapshotBundle.validate(zip: sample.zip, depth: .full)
      let members = try OpenSnapshot(zip: sample.zip).members
      #expect(members.contains { $0.name.hasSuffix("/" + encoded) && $0.originalName == name }, "\(members)")
    }
  }

  @Test func `the names of a container are packed encoded`() throws {
    let folder = try TemporaryFolder()
    let name = "Library/heartbeats-1:123:ios:abc"
    try folder.write(Data("x".utf8), to: "AppData/" + name)
    let manifest = Manifest(
      id: SnapshotID(), createdAt: SampleSnapshot.time, application: SampleSnapshot.application,
      device: SampleSnapshot.device)
    _ = try SnapshotBundle.pack(
      container: folder.file("AppData"), describedBy: manifest, to: folder.file("a.zip"))
    #expect(try OpenSnapshot(zip: folder.file("a.zip")).members.map(\.originalName) == ["app-data/" + name])
  }

  @Test func `every identifier has a valid file name`() throws {
    let folder = try TemporaryFolder()
    try folder.write(Data("x".utf8), to: "x")
    let odd = [
      "CON", "con", "con ", "Con.txt", "con .txt", "com1", "COM¹", "lpt0.a.b", "conin$", "a", "A", "a.", "a ",
      "a..",
      ".", "..", "a:b", "a/b", "a\\b", "a?b", "a_b", "a*b", "<a>", "a|b", "\"", "", " ", "é", "e\u{300}",
      "ab",
      "a\u{200D}b", "\u{200C}", "\u{FEFF}", "👨‍👩‍👧", "a\0b", "\n", "~", "a@1", "%", "^a",
      "aux" + String(repeating: "x", count: 4000),
      String(repeating: "é", count: 2000),
    ]
    let sources = odd.map {
      SnapshotBundle.Source(identifier: $0, file: folder.file("x"), recordedAt: SampleSnapshot.time)
    }
    let manifest = Manifest(
      id: SnapshotID(), createdAt: SampleSnapshot.time, application: SampleSnapshot.application,
      device: SampleSnapshot.device)
    _ = try SnapshotBundle.pack(sources, describedBy: manifest, to: folder.file("a.zip"))
    let read = try SnapshotBundle.validate(zip: folder.file("a.zip"), depth: .full)
    #expect(Set(read.recordings.map(\.identifier)) == Set(odd))
  }
}
