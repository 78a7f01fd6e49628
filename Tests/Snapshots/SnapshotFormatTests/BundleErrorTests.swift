import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing
import ZipArchive

/// Every error in a bundle, in a folder and in a zip.
struct BundleErrorTests {
  /// The errors for the folder and for the zip: the latter at both depths and when unpacking.
  private func refusals(
    _ sample: SampleSnapshot, extra: [String: Data] = [:], structural: Bool = true
  ) throws -> [String] {
    let zip = try sample.zipUnchecked(extra: extra)
    for (name, data) in extra { try sample.temporary.write(data, to: "snapshot/" + name) }
    let copy = sample.temporary.file("copy")
    var refusals = [
      description { () throws(BundleError) in _ = try SnapshotBundle.validate(zip: zip, depth: .full) },
      description { () throws(BundleError) in _ = try SnapshotBundle.unpack(zip: zip, into: copy) },
      description { () throws(BundleError) in _ = try SnapshotBundle.validate(folder: sample.folder) },
      description { () throws(BundleError) in
        _ = try SnapshotBundle.pack(folder: sample.folder, to: sample.temporary.file("new.zip"))
      },
    ]
    let shallow = description { () throws(BundleError) in
      _ = try SnapshotBundle.validate(zip: zip, depth: .structure)
    }
    if structural { refusals.append(shallow) } else { #expect(shallow == "no refusal") }
    #expect(try sample.leftovers() == ["snapshot", "snapshot.zip"])
    return refusals
  }

  private func description(_ body: () throws(BundleError) -> Void) -> String {
    do {
      try body()
      return "no refusal"
    } catch {
      return error.description
    }
  }

  @Test func `an unchanged sample is accepted`() throws {
    let sample = try SampleSnapshot()
    _ = try SnapshotBundle.validate(folder: sample.folder)
    _ = try SnapshotBundle.validate(zip: sample.zipUnchecked(), depth: .full)
  }

  @Test func `a missing manifest`() throws {
    let sample = try SampleSnapshot()
    try Folder.remove(sample.folder.path + "/manifest.json")
    for refusal in try refusals(sample) { #expect(refusal.contains("There is no manifest.json")) }
  }

  @Test func `a manifest that is not JSON`() throws {
    let sample = try SampleSnapshot()
    try sample.temporary.write(Data("{".utf8), to: "snapshot/manifest.json")
    for refusal in try refusals(sample) {
      #expect(refusal.contains("manifest.json is refused: it is not JSON"))
    }
  }

  @Test func `a manifest over its limit`() throws {
    let sample = try SampleSnapshot()
    let json = try SnapshotJSON.encode(sample.manifest)
    let most = Manifest.Limits.default.size
    for excess in [0, 1] {
      let padding = Data(repeating: UInt8(ascii: " "), count: most - json.count + excess)
      try sample.temporary.write(json + padding, to: "snapshot/manifest.json")
      if excess == 0 {
        _ = try SnapshotBundle.validate(folder: sample.folder)
        _ = try SnapshotBundle.validate(zip: sample.zipUnchecked(), depth: .structure)
      } else {
        for refusal in try refusals(sample) { #expect(refusal.contains("it has more than \(most) bytes")) }
      }
    }
  }

  @Test func `a newer format`() throws {
    var sample = try SampleSnapshot()
    sample.manifest.formatVersion = 7
    try sample.writeManifest()
    for refusal in try refusals(sample) {
      #expect(refusal.contains("format version 7") && refusal.contains("up to 2"))
    }
  }

  @Test func `a missing recording`() throws {
    let sample = try SampleSnapshot()
    try Folder.remove(sample.folder.path + "/recordings/news%2ffeed")
    for refusal in try refusals(sample) {
      #expect(refusal.contains("‘news/feed’ should be at ‘recordings/news%2ffeed’"), "\(refusal)")
    }
  }

  @Test func `a recording of another size`() throws {
    let sample = try SampleSnapshot()
    try sample.temporary.write(Data("12345678".utf8), to: "snapshot/recordings/news%2ffeed")
    for refusal in try refusals(sample) {
      #expect(
        refusal.contains("‘news/feed’") && refusal.contains("8 bytes instead of 7"), "\(refusal)")
    }
  }

  @Test func `a recording with other contents`() throws {
    let sample = try SampleSnapshot()
    try sample.temporary.write(Data("{\"a\":2}".utf8), to: "snapshot/recordings/news%2ffeed")
    for refusal in try refusals(sample, structural: false) {
      #expect(refusal.contains("‘news/feed’") && refusal.contains("its SHA-256 is"), "\(refusal)")
    }
  }

  @Test(arguments: [
    "readme.txt", "recordings/unnamed", "recordings/b/c", "extra/x", "app-data",
    "attachments",
    "__MACOSX/._manifest.json", "recordingsx/a",
  ])
  func `a file that is not allowed`(name: String) throws {
    let sample = try SampleSnapshot()
    if ["app-data", "attachments"].contains(name) { try Folder.removeTree(sample.folder.path + "/" + name) }
    for refusal in try refusals(sample, extra: [name: Data("x".utf8)]) {
      #expect(refusal.contains("‘\(name)’ is not allowed in a snapshot"), "\(refusal)")
    }
  }

  @Test func `a name longer than file systems allow`() throws {
    let part = String(repeating: "a", count: 255)
    let longest = "app-data/" + [part, part, part].joined(separator: "/")
    let whole = longest + "/" + String(repeating: "b", count: 1024 - longest.utf8.count - 1)
    let sample = try SampleSnapshot()
    for (name, isTaken) in [
      ("attachments/\(part)", true), ("attachments/\(part)a", false), (whole, true), (whole + "b", false),
      ("attachments/" + String(repeating: "é", count: 128), false), ("attachments/\(part)a/", false),
    ] {
      let zip = try sample.zipUnchecked(extra: [name: name.hasSuffix("/") ? Data() : Data("x".utf8)])
      for depth in [SnapshotBundle.Depth.structure, .full] {
        let refusal = description { () throws(BundleError) in
          _ = try SnapshotBundle.validate(zip: zip, depth: depth)
        }
        #expect(refusal.contains(isTaken ? "no refusal" : "is longer than file systems allow"))
      }
      guard isTaken else { continue }
      _ = try SnapshotBundle.unpack(zip: zip, into: sample.temporary.file("copy"))
      try Folder.removeTree(sample.temporary.file("copy").path)
    }
  }

  @Test func `a file that is not a zip`() throws {
    let sample = try SampleSnapshot()
    for bytes in [Data(), Data("nonsense".utf8), Data(count: 100)] {
      try bytes.write(to: sample.zip)
      for depth in [SnapshotBundle.Depth.structure, .full] {
        let refusal = description { () throws(BundleError) in
          _ = try SnapshotBundle.validate(zip: sample.zip, depth: depth)
        }
        #expect(refusal.contains("The zip is refused"))
      }
    }
  }

  @Test func `a zip truncated at any position`() throws {
    let sample = try SampleSnapshot()
    let bytes = try Data(contentsOf: sample.zipUnchecked())
    let copy = sample.temporary.file("copy")
    for length in stride(from: 0, to: bytes.count, by: 7) {
      try bytes.prefix(length).write(to: sample.zip)
      #expect(throws: BundleError.self) { try SnapshotBundle.unpack(zip: sample.zip, into: copy) }
    }
    #expect(try sample.leftovers() == ["snapshot", "snapshot.zip"])
  }

  @Test func `a wrong byte in any recording's data`() throws {
    let sample = try SampleSnapshot(["only": Data("0123456789".utf8)])
    let bytes = try Data(contentsOf: sample.zipUnchecked())
    let place = try #require(bytes.firstRange(of: Data("0123456789".utf8))?.lowerBound)
    for offset in 0..<10 {
      var changed = bytes
      changed[place + offset] ^= 1
      try changed.write(to: sample.zip)
      _ = try SnapshotBundle.validate(zip: sample.zip, depth: .structure)
      #expect(throws: BundleError.self) { try SnapshotBundle.validate(zip: sample.zip, depth: .full) }
      #expect(throws: BundleError.self) {
        try SnapshotBundle.unpack(zip: sample.zip, into: sample.temporary.file("copy"))
      }
    }
    #expect(try sample.leftovers() == ["snapshot", "snapshot.zip"])
  }

  @Test func `the limits of the zip are enforced`() throws {
    let sample = try SampleSnapshot()
    let zip = try sample.zipUnchecked()
    var limits = ZipLimits()
    limits.entries = 6
    _ = try SnapshotBundle.validate(zip: zip, depth: .structure, limits: limits)
    limits.entries = 5
    #expect(throws: BundleError.self) {
      try SnapshotBundle.validate(zip: zip, depth: .structure, limits: limits)
    }
  }

  @Test func `disk errors are reported as such`() throws {
    let sample = try SampleSnapshot()
    do throws(BundleError) {
      _ = try SnapshotBundle.validate(zip: sample.temporary.file("nowhere.zip"), depth: .full)
      Issue.record("read a zip that is not there")
    } catch {
      guard case .system(let cause) = error else { throw error }
      #expect(cause.isNotFound)
    }
  }
}
