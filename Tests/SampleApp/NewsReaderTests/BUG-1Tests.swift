import DataSnapshots
import NewsReading
import SnapshotReplay
import Testing

// Written by `snapshot test` from the snapshot of BUG-1, and completed by hand.

struct BUG_1Tests {
  @Test("BUG-1", .replaying("BUG-1", expectsClock: false)) func showsWhatWasExpected() async throws {
    // The bug is still in the app, so the test is red.
    await withKnownIssue("The total is 600.2345") {
      // example: Total begin
      let mode = try #require(SnapshotMode.current)
      let app = NewsReader(mode: mode)
      #expect(try await app.total() == 1240.49)
      // example: Total end
    }
    // It is green with the mend.
    let mode = try #require(SnapshotMode.current)
    mode.rewind()
    #expect(try await NewsReader(mode: mode, mends: [.total]).total() == 1240.49)
  }
}
