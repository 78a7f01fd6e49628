import Foundation
import HTTPEngine
import ServerTesting
import SnapshotFormat
import SnapshotStore
import Testing

@testable import SnapshotAPI

@Suite struct RecordAnswersTests {
  private func record() throws -> SnapshotRecord {
    let bundle = try ZippedSample()
    return SnapshotRecord(
      id: bundle.id, report: try ReportID(validating: "BUG-1"), size: 1, sha256: .of([1]),
      receivedAt: Date(timeIntervalSince1970: 0), verified: .pending, manifest: bundle.manifest)
  }

  private func text(_ answers: RecordAnswers, _ record: SnapshotRecord) throws -> String {
    guard case .bytes(let bytes) = try answers.representation(of: record).content else { return "" }
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `a response has the current record, whatever was cached before`() throws {
    let answers = RecordAnswers()
    var record = try record()
    let tag = try answers.representation(of: record).entityTag
    #expect(try text(answers, record).contains(#""verified":"pending""#))
    #expect(try answers.representation(of: record).entityTag == tag)
    record.verified = .damaged
    #expect(try text(answers, record).contains(#""verified":"damaged""#))
    #expect(try answers.representation(of: record).entityTag != tag)
    record.metadata = ["secret": "of somebody"]
    #expect(try text(answers, record).contains("of somebody"))
    record.metadata = [:]
    #expect(try !text(answers, record).contains("of somebody"))
  }

  @Test(arguments: [0, 1 << 20]) func `a response is the same with and without room in the cache`(room: Int)
    throws
  {
    let answers = RecordAnswers(byteLimit: room)
    let records = try (0..<8).map { _ in try record() }
    for record in records + records {
      let text = try text(answers, record)
      #expect(text == String(decoding: try JSONBody(RecordAnswer(record, below: "")).bytes, as: UTF8.self))
      #expect(text.contains("\(record.id)"))
      #expect(!text.contains("identifiers"))
    }
  }
}
