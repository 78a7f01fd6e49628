import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing
import ZipArchive

struct SnapshotBundleTests {
  @Test func `unpacking restores the packed folder`() throws {
    let sample = try SampleSnapshot()
    let packed = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
    #expect(packed.manifest == sample.manifest)
    let copy = sample.temporary.file("copy")
    #expect(try SnapshotBundle.unpack(zip: sample.zip, into: copy) == sample.manifest)
    #expect(try sample.contents(of: copy) == sample.contents(of: sample.folder))
    #expect(try SnapshotBundle.validate(folder: copy) == sample.manifest)
    #expect(try sample.leftovers() == ["copy", "snapshot", "snapshot.zip"])
  }

  @Test func `size and digest are those of the zip`() throws {
    let sample = try SampleSnapshot()
    let packed = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
    let bytes = try Data(contentsOf: sample.zip)
    #expect(packed.size == Int64(bytes.count))
    #expect(packed.sha256 == .of(bytes))
  }

  @Test func `the same folder gives the same bytes, with the manifest first and the rest sorted`() throws {
    let sample = try SampleSnapshot()
    let other = sample.temporary.file("other.zip")
    _ = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
    _ = try SnapshotBundle.pack(folder: sample.folder, to: other)
    #expect(try Data(contentsOf: sample.zip) == Data(contentsOf: other))
    let names = try ZipReader(File(sample.zip.path)).entries.map(\.name)
    #expect(names.first == "manifest.json")
    #expect(
      Array(names.dropFirst()) == names.dropFirst().sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
  }

  @Test func `an existing zip is replaced, and kept if packing fails`() throws {
    let sample = try SampleSnapshot()
    try sample.temporary.write(Data("old".utf8), to: "snapshot.zip")
    try sample.temporary.write(Data("changed".utf8), to: "snapshot/recordings/\(RecordingName("A"))")
    #expect(throws: BundleError.self) { try SnapshotBundle.pack(folder: sample.folder, to: sample.zip) }
    #expect(try Data(contentsOf: sample.zip) == Data("old".utf8))
    #expect(try sample.leftovers() == ["snapshot", "snapshot.zip"])
    try sample.temporary.write(Data("A".utf8), to: "snapshot/recordings/\(RecordingName("A"))")
    _ = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
    _ = try SnapshotBundle.validate(zip: sample.zip, depth: .full)
  }

  @Test func `megabytes are packed and unpacked unchanged`() throws {
    var random = SplitMix64(seed: 3)
    let noise = Data((0..<(3 << 17)).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } })
    let sample = try SampleSnapshot([
      "noise": noise, "zeros": Data(count: 20 << 20), "edge": noise.prefix(64 << 10),
      "odd": noise.prefix((64 << 10) + 1),
    ])
    _ = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
    _ = try SnapshotBundle.validate(zip: sample.zip, depth: .full)
    let copy = sample.temporary.file("copy")
    _ = try SnapshotBundle.unpack(zip: sample.zip, into: copy)
    #expect(try sample.contents(of: copy) == sample.contents(of: sample.folder))
  }

  @Test func `many problematic identifiers are packed and unpacked unchanged`() throws {
    let recordings = RecordingNameTests.nasty.reduce(into: [:]) { $0[$1] = Data($1.utf8) }
    let sample = try SampleSnapshot(recordings)
    _ = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
    let copy = sample.temporary.file("copy")
    let manifest = try SnapshotBundle.unpack(zip: sample.zip, into: copy)
    for recording in manifest.recordings {
      #expect(try Data(contentsOf: copy.appending(path: recording.path)) == recordings[recording.identifier])
    }
    #expect(manifest.recordings.count == recordings.count)
  }

  @Test func `unpacking never overwrites an existing file or folder`() throws {
    let sample = try SampleSnapshot()
    _ = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
    try FileManager.default.createDirectory(
      at: sample.temporary.file("taken"), withIntermediateDirectories: false)
    do throws(BundleError) {
      _ = try SnapshotBundle.unpack(zip: sample.zip, into: sample.temporary.file("taken"))
      Issue.record("unpacked over a folder")
    } catch {
      guard case .system(let cause) = error else { throw error }
      #expect(cause.isAlreadyThere)
    }
    #expect(try sample.contents(of: sample.temporary.file("taken")).isEmpty)
  }

  @Test func `a plain folder becomes a snapshot of its files`() throws {
    let sample = try SampleSnapshot()
    try sample.temporary.write(Data("1".utf8), to: "plain/a.json")
    try sample.temporary.write(Data("2".utf8), to: "plain/deep/down/B.json")
    try sample.temporary.write(Data("x".utf8), to: "plain/deep/.DS_Store")
    let report = try ReportID(validating: "BUG-1")
    let packed = try SnapshotBundle.pack(
      plainFolder: sample.temporary.file("plain"), application: SampleSnapshot.application,
      device: SampleSnapshot.device, report: report, to: sample.zip)
    #expect(Set(packed.manifest.recordings.map(\.identifier)) == ["a.json", "deep/down/B.json"])
    #expect(packed.manifest.report == report)
    let copy = sample.temporary.file("copy")
    #expect(try SnapshotBundle.unpack(zip: sample.zip, into: copy) == packed.manifest)
    #expect(try Data(contentsOf: copy.appending(path: "recordings/deep%2fdown%2f^b.json")) == Data("2".utf8))
  }

  @Test func `an empty folder becomes an empty snapshot`() throws {
    let sample = try SampleSnapshot()
    try FileManager.default.createDirectory(
      at: sample.temporary.file("empty"), withIntermediateDirectories: false)
    let packed = try SnapshotBundle.pack(
      plainFolder: sample.temporary.file("empty"), application: SampleSnapshot.application,
      device: SampleSnapshot.device, to: sample.zip)
    #expect(packed.manifest.recordings.isEmpty)
    #expect(try SnapshotBundle.validate(zip: sample.zip, depth: .full) == packed.manifest)
  }

  @Test func `links are never packed`() throws {
    let sample = try SampleSnapshot()
    try sample.temporary.write(Data("1".utf8), to: "plain/a.json")
    for target in ["/etc/passwd", "a.json", "nowhere", "."] {
      let link = sample.temporary.file("plain/link")
      try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: target)
      let error = #expect(throws: BundleError.self) {
        try SnapshotBundle.pack(
          plainFolder: sample.temporary.file("plain"), application: SampleSnapshot.application,
          device: SampleSnapshot.device, to: sample.zip)
      }
      #expect(error?.description.contains("‘link’ is not allowed") == true)
      try Folder.remove(link.path)
    }
    #expect(try sample.leftovers() == ["plain", "snapshot"])
  }

  @Test func `packing a pipe is an error and does not wait`() throws {
    let sample = try SampleSnapshot()
    #expect(mkfifo(sample.folder.path + "/attachments/pipe", 0o600) == 0)
    #expect(throws: BundleError.self) { try SnapshotBundle.validate(folder: sample.folder) }
    #expect(throws: BundleError.self) {
      try SnapshotBundle.validate(zip: sample.folder.appending(path: "attachments/pipe"), depth: .full)
    }
  }

  @Test func `a missing folder is reported as missing`() throws {
    let sample = try SampleSnapshot()
    let error = #expect(throws: BundleError.self) {
      try SnapshotBundle.validate(folder: sample.temporary.file("nowhere"))
    }
    #expect(error?.description.contains("no such file") == true)
  }
}
