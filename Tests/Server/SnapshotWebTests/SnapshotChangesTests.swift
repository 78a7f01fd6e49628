import SnapshotFormat
import Testing

@testable import SnapshotWeb

struct SnapshotChangesTests {
  private let older: SnapshotRecord

  init() throws {
    var record = try SamplePages.usual.record()
    record.modules = [Module(name: "Feed", files: ["a", "b"]), Module(name: "Empty", files: [])]
    record.identifiers = ["a"]
    older = record
  }

  private func lines(_ change: (inout SnapshotRecord) -> Void) -> [String] {
    var newer = older
    change(&newer)
    return SnapshotChanges(from: older, to: newer).lines
  }

  @Test func `each difference of the records is one line`() {
    #expect(lines { _ in } == [])
    #expect(lines { $0.identifiers = ["a", "b"] } == ["Complete modules: 1 → 2"])
    #expect(lines { $0.size += 1_500_000 } == ["Size: +1.5 MB"])
    #expect(lines { $0.device.systemVersion = "26.2" } == ["System: iOS 26.1 → iOS 26.2"])
    #expect(
      lines {
        $0.application.build = "413"
        $0.recordingCount = 1300
        $0.modules = ["A", "B", "C", "D", "E"].map { Module(name: $0, files: ["x"]) }
      } == [
        "Version: 3.1.0 (412) → 3.1.0 (413)", "Modules added: A, B, C and 2 more",
        "Modules removed: Feed, Empty",
        "Complete modules: 1 → 0", "Recordings: 12 → 1,300",
      ])
  }

  @Test func `the number of complete modules is unknown without all identifiers`() {
    #expect(older.completeModules == 1)
    var record = older
    record.identifiers = nil
    #expect(record.completeModules == nil)
    record.identifiers = (0..<999).map(String.init)
    #expect(record.completeModules == 1)
    record.identifiers = (0..<1000).map(String.init)
    #expect(record.completeModules == nil)
    record.identifiers = [String(repeating: "a", count: 16 << 10)]
    #expect(record.completeModules == nil)
    #expect(lines { $0.identifiers = nil } == [])
  }
}
