import DataSnapshots
import NewsReading
import SnapshotReplay
import Testing

// Written by `snapshot test` from the snapshot of BUG-2, and completed by hand.

struct BUG_2Tests {
  @Test("BUG-2", .replaying("BUG-2")) func showsWhatWasExpected() async throws {
    // The bug is still in the app, so the test is red.
    await withKnownIssue("The app says 2026-03-03") {
      // example: Renewal begin
      let mode = try #require(SnapshotMode.current)
      let app = NewsReader(mode: mode)
      #expect(try await app.renewal() == "2026-02-28")
      // example: Renewal end
    }
    // It is green with the mend.
    let mode = try #require(SnapshotMode.current)
    mode.rewind()
    #expect(try await NewsReader(mode: mode, mends: [.renewal]).renewal() == "2026-02-28")
  }

  @Test func `a call replays too, as in XCTest`() async throws {
    let error = await #expect(throws: ReplayError.self) {
      // example: Call begin
      try await withReplay(of: "BUG-2") { mode in
        let app = NewsReader(mode: mode, mends: [.renewal])
        let day = try await app.renewal()
        #expect(day == "2026-02-28")
        _ = try await app.total()  // was not recorded
      }
      // example: Call end
    }
    #expect(error?.description.contains("has no recording of ‘GET") == true, "\(String(describing: error))")
  }
}
