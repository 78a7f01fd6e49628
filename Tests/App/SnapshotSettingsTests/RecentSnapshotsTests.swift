import Foundation
import SnapshotFormat
import TestSupport
import Testing

@testable import SnapshotSettings

@Suite struct RecentSnapshotsTests {
  let folder: TemporaryFolder
  var file: URL { folder.file("settings/recent.json") }

  init() throws { folder = try TemporaryFolder() }

  private func entry(_ origin: RecentSnapshot.Origin = .sent, id: SnapshotID = SnapshotID()) -> RecentSnapshot
  {
    RecentSnapshot(id: id, origin: origin, date: Date(timeIntervalSince1970: 1_700_000_000.1234))
  }

  @Test func `the list is kept across launches, newest first, without duplicates`() throws {
    let (first, second) = (entry(), entry())
    let list = RecentSnapshots(file: file, limit: 20)
    try list.insert(first)
    try list.insert(second)
    try list.insert(entry(.activated, id: first.id))
    let again = RecentSnapshots(file: file, limit: 20)
    #expect(again.all == list.all)
    #expect(again.all.map(\.id) == [first.id, second.id])
    #expect(again.all.first?.origin == .activated)
    #expect(again.problem == nil)
  }

  @Test func `known details of a snapshot are kept`() throws {
    var sent = entry()
    sent.report = try ReportID(validating: "BUG-1")
    let list = RecentSnapshots(file: file, limit: 20)
    try list.insert(sent)
    try list.insert(entry(.activated, id: sent.id))
    #expect(list.all.first?.report == sent.report)
  }

  @Test func `the oldest entries are removed first`() throws {
    let list = RecentSnapshots(file: file, limit: 3)
    let entries = (0..<5).map { _ in entry() }
    for entry in entries { try list.insert(entry) }
    #expect(list.all == entries.suffix(3).reversed())
    #expect(RecentSnapshots(file: file, limit: 2).all == entries.suffix(2).reversed())
    try list.clear()
    #expect(RecentSnapshots(file: file, limit: 3).all.isEmpty)
  }

  @Test(arguments: ["", "[", "{}", #"[{"id":"x"}]"#])
  func `a damaged file is reported and does no further harm`(text: String) throws {
    try folder.write(Data(text.utf8), to: "settings/recent.json")
    let list = RecentSnapshots(file: file, limit: 3)
    #expect(list.all.isEmpty)
    #expect(list.problem?.contains("recent.json") == true)
    try list.insert(entry())
    #expect(RecentSnapshots(file: file, limit: 3).all.count == 1)
  }

  @Test func `a list that can't be written is reported`() throws {
    try folder.write(Data(), to: "settings")
    #expect(throws: (any Error).self) { try RecentSnapshots(file: file, limit: 3).insert(entry()) }
  }
}
