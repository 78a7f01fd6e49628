import DataSnapshots
import Foundation
import NewsReading
import SnapshotReplay
import TestSupport
import Testing

/// The report of an archive that is too large to be in a repository: it is recorded here.
struct BUG_3Tests {
  private static let size = 60_000_000

  @Test(.timeLimit(.minutes(10 * Sanitizer.slowness)))
  func `an archive of 60 MB in which one article has no author`() async throws {
    let folder = try TemporaryFolder()
    let (archive, count) = NewsArchive.make(bytes: Self.size)
    let recording = SnapshotMode(folder: folder.file("recording"))
    recording.state = .recording
    #expect(await NewsReader(mode: recording).archivedArticles { archive } == 0)
    let fixtures = folder.file("Fixtures")
    try FileManager.default.createDirectory(at: fixtures, withIntermediateDirectories: false)
    let zip = fixtures.appending(path: "BUG-3.snapshot.zip")
    let packed = try await recording.makeSnapshot(report: ReportID(validating: "BUG-3"), to: zip)
    await recording.close()
    #expect(packed.manifest.recordings.map(\.size) == [Int64(archive.count)])

    let file = folder.file("Tests.swift").path
    try await withReplay(of: "BUG-3", expectsClock: false, sourceFile: file) { mode in
      await withKnownIssue("The app shows an empty archive") {
        // example: Archive begin
        let app = NewsReader(mode: mode)
        #expect(await app.archivedArticles { throw NewsError(status: 0) } == count)
        // example: Archive end
      }
      let mended = NewsReader(mode: mode, mends: [.author])
      #expect(await mended.archivedArticles { throw NewsError(status: 0) } == count)
    }
  }
}
