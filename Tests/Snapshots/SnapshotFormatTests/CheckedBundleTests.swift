import Foundation
import SnapshotFormat
import SystemIO
import Testing
import ZipArchive

@Suite struct CheckedBundleTests {
  private func sample() throws -> (SampleSnapshot, CheckedBundle) {
    let sample = try SampleSnapshot()
    _ = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
    return (sample, try CheckedBundle(File(sample.zip.path)))
  }

  @Test func `it has the same contents as an open snapshot`() throws {
    let (sample, bundle) = try sample()
    let open = try OpenSnapshot(zip: sample.zip)
    var recordings: [Manifest.Recording] = []
    var manifest = try bundle.readManifest { recordings.append($0) }
    #expect(manifest.recordings.isEmpty)
    manifest.recordings = recordings
    #expect(manifest == open.manifest)
    var members: [SnapshotMember] = []
    try bundle.readMembers { members.append($0) }
    #expect(Set(members) == Set(open.members))
    var extras: [SnapshotMember] = []
    try bundle.readExtras { extras.append($0) }
    #expect(Set(extras) == Set(open.members.filter { $0.isAttachment || $0.isAppData }))
    #expect(extras.count == 2)
    let located = try bundle.locating(Set(recordings.map(\.path)))
    for recording in recordings {
      #expect(try bundle.contents(of: recording) == open.contents(of: recording))
      #expect(try located.contents(of: recording) == open.contents(of: recording))
      #expect(try bundle.recording(at: recording.path) == recording)
    }
    for member in members { #expect(try bundle.digest(of: member) == open.digest(of: member)) }
  }

  @Test func `a missing file is not found`() throws {
    let (_, bundle) = try sample()
    for path in ["", "recordings/none", "recordings/", "attachments", "attachments/LOG.txt"] {
      #expect(try bundle.entry(at: path).map(\.size) == nil)
      #expect(try bundle.recording(at: path) == nil)
    }
    let entry = try #require(try bundle.entry(at: "attachments/log.txt"))
    #expect(entry.size == 3)
    let next = try entry.pieces()
    #expect(try next() == Array("log".utf8))
    #expect(try next() == nil)
  }

  @Test func `a zip without a manifest is rejected`() throws {
    let sample = try SampleSnapshot()
    let file = try File(sample.zip.path, .create(mode: 0o600))
    let writer = ZipWriter(file)
    try writer.add("recordings/a", bytes: [1])
    try writer.finish()
    #expect(throws: BundleError.self) { try CheckedBundle(file) }
  }
}
