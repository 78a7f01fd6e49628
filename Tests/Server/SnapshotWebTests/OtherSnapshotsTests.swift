import SnapshotFormat
@testable import SnapshotWeb
import Testing

@Suite struct OtherSnapshotsTests {
  private let record: SnapshotRecord
  private let newer: SnapshotRecord
  private let older: SnapshotRecord
  private let elsewhere: SnapshotRecord

  init() throws {
    // A sample with a higher number was received earlier.
    newer = try SamplePages.usual.record(1)
    record = try SamplePages.usual.record(2)
    older = try SamplePages.usual.record(3)
    elsewhere = try SamplePages.usual.record(4, report: "WEB-1")
  }

  private func choice(_ change: (inout [SnapshotRecord]) -> Void = { _ in }) -> OtherSnapshots {
    var records = [newer, older, elsewhere]
    change(&records)
    let own = [records[0], record, records[1]]
    return OtherSnapshots(for: record, ofReport: own, ofApplication: own + [records[2]])
  }

  @Test func `the report's snapshots come first, and the one before is proposed`() {
    #expect(choice().candidates.map(\.id) == [newer.id, older.id, elsewhere.id])
    #expect(choice().proposed?.id == older.id)
  }

  @Test func `a good snapshot is proposed, first one of the report`() {
    #expect(choice { $0[2].isGood = true }.proposed?.id == elsewhere.id)
    #expect(choice { for index in $0.indices { $0[index].isGood = true } }.proposed?.id == newer.id)
    #expect(
      choice {
        $0[0].isGood = true
        $0[0].application.identifier = "com.example.other"
      }.proposed?.id == older.id)
  }

  @Test func `without another snapshot nothing is proposed`() {
    let choice = OtherSnapshots(for: record, ofReport: [newer, record], ofApplication: [record])
    #expect(choice.proposed == nil && choice.candidates.map(\.id) == [newer.id])
  }
}
