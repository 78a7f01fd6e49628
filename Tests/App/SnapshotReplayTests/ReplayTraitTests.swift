import DataSnapshots
import Foundation
import SnapshotFormat
import SnapshotReplay
import TestSupport
import Testing

/// Replays by the trait of Swift Testing.
struct ReplayTraitTests {
  @Test(.replaying("feed", sourceFile: SampleFixture.shared.sourceFile))
  func `a test has a replay with the recording's clock, time zone and locale`() throws {
    let mode = try #require(SnapshotMode.current)
    #expect(mode.state == .replaying)
    #expect(mode.now == SampleFixture.created)
    #expect(mode.timeZone.identifier == "Europe/Vienna" && mode.locale.identifier == "de_AT")
    #expect(mode.recorded("feed") == Data("[1,2]".utf8))
  }

  @Test(
    .replaying("feed", expectsClock: false, sourceFile: SampleFixture.shared.sourceFile), arguments: 0..<10)
  func `each case has a replay of its own`(number: Int) throws {
    #expect(SnapshotMode.current?.activeManifest?.application.identifier == "com.example.news")
    #expect(SnapshotMode.current?.recorded("feed") == Data("[1,2]".utf8))
  }

  @Test func `a test that misses something fails, and has what explains it attached`() async throws {
    let folder = try TemporaryFolder()
    let attachments = folder.file("attachments")
    try FileManager.default.createDirectory(at: attachments, withIntermediateDirectories: false)
    let outcome = try await Tool.run(
      ProcessInfo.processInfo.arguments[0],
      [
        "--testing-library", "swift-testing", "--filter", "NestedReplayTests", "--attachments-path",
        attachments.path,
      ],
      environment: ["NESTED_REPLAY": "1", "NO_COLOR": "1"])
    #expect(outcome.status != 0)
    let text = outcome.text + outcome.errors
    #expect(text.contains("the nearest is ‘feed’, which has ‘feed’ instead of ‘fed’"), "\(text)")
    #expect(text.contains("The app never asked for the time of the recording"), "\(text)")
    #expect(text.contains("was made at 2023-11-14T22:13:20.000Z"), "\(text)")
    #expect(text.contains("There is no fixture"), "\(text)")
    let names = try FileManager.default.contentsOfDirectory(atPath: attachments.path).sorted()
    #expect(names == ["feed-1-difference.txt", "feed-1-nearest.txt", "feed-1-request.txt"], "\(text)")
    let nearest = try String(contentsOf: attachments.appending(path: names[1]), encoding: .utf8)
    #expect(nearest.contains("[1,2]"))
  }
}

/// Tests that fail. They run only in the process that ``ReplayTraitTests`` starts.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["NESTED_REPLAY"] != nil))
struct NestedReplayTests {
  @Test(.replaying("feed", sourceFile: SampleFixture.shared.sourceFile)) func `a miss that is swallowed`() {
    #expect(SnapshotMode.current?.recorded("fed") == nil)
    #expect(SnapshotMode.current?.recorded("feed") != nil)
  }

  @Test(
    .replaying(
      "feed", maximumAge: .seconds(60), expectsClock: false, sourceFile: SampleFixture.shared.sourceFile))
  func `an old fixture`() {}

  @Test(.replaying("nowhere", sourceFile: SampleFixture.shared.sourceFile)) func `no fixture`() {}
}
