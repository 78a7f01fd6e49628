import SnapshotDiff
import SnapshotFormat
@testable import SnapshotWeb
import Testing

@Suite struct RecordingDifferencesTests {
  @Test func `recordings of a list are the same, changed or new`() throws {
    let large = String(repeating: "x", count: RecordingDifferences.limits.recordingBytes + 1)
    let one = try SampleBundle([
      ("a", "{\"x\":1,\"y\":1}"), ("b", "1"), ("c", "1"), ("d", large), ("e", "1\n2\n3"),
      ("f", "{\"at\":1}"),
    ])
    let other = try SampleBundle([
      ("a", "{\"x\":2,\"y\":2}"), ("b", "1"), ("d", large + "y"), ("e", "1\n4\n3"), ("f", "{\"at\":2}"),
      ("z", ""),
    ])
    let paths = Set(["a", "b", "c", "d", "e", "f"].map { "recordings/\($0)" })
    let filter = try ComparisonFilter("at")
    let states = try RecordingDifferences.of(
      paths, in: one.bundle, comparedWith: other.bundle, filter: filter)
    #expect(
      states == [
        "recordings/a": .changed(2), "recordings/b": .same, "recordings/c": .added,
        "recordings/d": .changed(nil), "recordings/e": .changed(1), "recordings/f": .same,
      ])
    #expect(
      try RecordingDifferences.of(
        ["recordings/a", "recordings/none"], in: one.bundle, comparedWith: other.bundle)
        == ["recordings/a": .changed(2)])
    #expect(try RecordingDifferences.of([], in: one.bundle, comparedWith: other.bundle).isEmpty)
  }
}
