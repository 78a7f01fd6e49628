import Foundation
import SnapshotFormat
import StoreTesting
import Testing

@testable import FileStore

@Suite struct RecordFileTests {
  private let record: SnapshotRecord = {
    let id = SnapshotID()
    return SnapshotRecord(
      id: id, report: .sample, size: 1, sha256: .of([1]), receivedAt: Date(timeIntervalSince1970: 0.5),
      verified: .intact, manifest: SampleBundle.manifest(id), metadata: ["note": "it ‘broke’ \n \\ \""])
  }()

  @Test func `a record is read as it was written, and is JSON`() throws {
    let bytes = try RecordFile.encode(record)
    #expect(try RecordFile.decode(bytes) == record)
    #expect(try SnapshotJSON.decode(SnapshotRecord.self, from: Data(bytes)) == record)
  }

  @Test func `a record without a checksum is accepted`() throws {
    for pretty in [true, false] {
      #expect(try RecordFile.decode(Array(try SnapshotJSON.encode(record, pretty: pretty))) == record)
    }
  }

  @Test
  func `a record without a checksum is refused if it is truncated, followed by others, or repeats a key`()
    throws
  {
    let bytes = Array(try SnapshotJSON.encode(record))
    for count in bytes.indices {
      #expect(throws: RecordFile.Damage.self) { try RecordFile.decode(Array(bytes[..<count])) }
    }
    #expect(try RecordFile.decode(bytes + Array(" \n".utf8)) == record)
    for end in ["}{}", #","report":"BUG-2"}"#] {
      #expect(throws: RecordFile.Damage.self) { try RecordFile.decode(bytes.dropLast() + Array(end.utf8)) }
    }
  }

  @Test func `any flipped bit is detected`() throws {
    let bytes = try RecordFile.encode(record)
    for index in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[index] ^= 1 << bit
        #expect(throws: RecordFile.Damage.self, "byte \(index), bit \(bit)") {
          try RecordFile.decode(damaged)
        }
      }
    }
  }

  @Test func `truncation at any place is detected`() throws {
    let bytes = try RecordFile.encode(record)
    for count in bytes.indices {
      #expect(throws: RecordFile.Damage.self) { try RecordFile.decode(Array(bytes[..<count])) }
    }
  }
}
