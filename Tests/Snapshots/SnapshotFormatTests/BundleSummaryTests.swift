import Foundation
import SnapshotFormat
import SystemIO
import Testing
import ZipArchive

@Suite struct BundleSummaryTests {
  @Test(arguments: [SnapshotBundle.Depth.structure, .full])
  func `a check returns the whole manifest without its recordings`(depth: SnapshotBundle.Depth) throws {
    let sample = try SampleSnapshot()
    let packed = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
    let summary = try SnapshotBundle.check(zip: sample.zip, depth: depth)
    var expected = BundleSummary(packed.manifest)
    // The sample has one recording without bytes.
    expected.problemCount = depth == .full ? 1 : nil
    #expect(summary == expected)
    #expect(summary.manifest.recordings.isEmpty)
    #expect(summary.recordingCount == 3)
    #expect(Set(summary.identifiers) == ["news/feed", "A", "a"])
    var manifest = summary.manifest
    manifest.recordings = packed.manifest.recordings
    #expect(manifest == packed.manifest)
  }

  @Test func `a record of a summary is equal to the record of the manifest`() throws {
    let manifest = try SampleSnapshot().manifest
    let report = try ReportID(validating: "BUG-1")
    let (whole, short) = (
      SnapshotRecord(
        id: manifest.id, report: report, size: 7, sha256: .of(Data()), receivedAt: SampleSnapshot.time,
        verified: .intact, manifest: manifest, metadata: ["a": "b"], attachedBy: "token",
        expiresAt: SampleSnapshot.time),
      SnapshotRecord(
        id: manifest.id, report: report, size: 7, sha256: .of(Data()), receivedAt: SampleSnapshot.time,
        verified: .intact, summary: BundleSummary(manifest), metadata: ["a": "b"], attachedBy: "token",
        expiresAt: SampleSnapshot.time)
    )
    #expect(whole == short)
    #expect(short.recordingCount == 3)
  }

  @Test func `a file whose name is only equivalent to a recording's path is rejected`() throws {
    let sample = try SampleSnapshot(["x": Data("1".utf8)])
    try Folder.remove(sample.folder.path + "/recordings/x")
    var changed = sample
    changed.manifest.recordings[0].path = "recordings/K"
    try changed.writeManifest()
    let zip = try sample.zipUnchecked(extra: ["recordings/\u{212A}": Data("1".utf8)])
    let error = #expect(throws: BundleError.self) { try SnapshotBundle.check(zip: zip, depth: .structure) }
    #expect(error?.description.contains("is not allowed in a snapshot") == true)
  }

  @Test func `among many recordings, any that differs from the manifest is found`() throws {
    let count = 300
    let sample = try SampleSnapshot(
      (0..<count).reduce(into: [:]) { $0["recording \($1)"] = Data("contents \($1)".utf8) })
    _ = try SnapshotBundle.check(zip: sample.zipUnchecked(), depth: .full)
    for place in [0, 1, count / 2, count - 1] {
      var changed = sample
      let recording = sample.manifest.recordings[place]
      changed.manifest.recordings[place].size += 1
      try changed.writeManifest()
      #expect(try refusal(changed).contains("‘\(recording.identifier)’ at"))
      changed = sample
      changed.manifest.recordings[place].sha256 = .of(Data("others".utf8))
      try changed.writeManifest()
      #expect(try refusal(changed).contains("its SHA-256 is \(recording.sha256) instead of"))
      changed = sample
      changed.manifest.recordings[place].path += "-"
      try changed.writeManifest()
      #expect(try refusal(changed).contains("‘\(recording.path)’ is not allowed"))
      changed = sample
      changed.manifest.recordings.remove(at: place)
      try changed.writeManifest()
      #expect(try refusal(changed).contains("‘\(recording.path)’ is not allowed"))
    }
    var more = sample
    more.manifest.recordings.append(
      .init(
        identifier: "more", path: "recordings/more", size: 0, sha256: .of(Data()),
        recordedAt: SampleSnapshot.time))
    try more.writeManifest()
    #expect(try refusal(more).contains("‘more’ should be at ‘recordings/more’, but there is no such file"))
  }

  private func refusal(_ sample: SampleSnapshot) throws -> String {
    let zip = try sample.zipUnchecked()
    do throws(BundleError) {
      _ = try SnapshotBundle.check(zip: zip, depth: .full)
      return "no refusal"
    } catch {
      return error.description
    }
  }
}
