package import Foundation
package import SnapshotFormat

/// Encodes a record as the bytes of a catalogue's row. Compared with JSON this takes a twentieth of the time and half the size.
///
/// Numbers are 8 bytes, little-endian; texts and lists begin with their length as 4 bytes. The identifiers are omitted,
/// since the index has their terms, and so are the comments, the revision and the attempt, which lists don't contain. The
/// bytes carry no version of their own, so a change of the encoding must raise the format of every catalogue's schema.
package enum RecordCoder {
  /// The bytes are not an encoded record.
  package struct Malformed: Error {}

  /// Returns the bytes of `record`.
  package static func encode(_ record: SnapshotRecord) -> Data {
    var writer = Writer()
    writer.bytes.reserveCapacity(512)
    writer.bytes += record.id.bytes
    writer.bytes += record.sha256.bytes
    writer.append(record.size)
    writer.append(record.receivedAt)
    writer.append(record.createdAt)
    writer.append(Int64(record.recordingCount))
    writer.append(record.verified.rawValue)
    writer.append(record.report.description)
    writer.append(record.application.identifier)
    writer.append(record.application.version)
    writer.append(record.application.build)
    writer.append(record.device.model)
    writer.append(record.device.system)
    writer.append(record.device.systemVersion)
    writer.append(record.device.locale)
    writer.append(record.modules) { writer, module in
      writer.append(module.name)
      writer.append(module.files) { $0.append($1) }
    }
    writer.append(record.metadata.map { $0 }) {
      $0.append($1.key)
      $0.append($1.value)
    }
    writer.append(record.attachedBy) { $0.append($1) }
    writer.append(record.expiresAt) { $0.append($1) }
    writer.append(record.isPinned ? 1 : 0)
    writer.append(record.manifestID) { $0.bytes += $1.bytes }
    return Data(writer.bytes)
  }

  /// Returns the record that was encoded, without identifiers and comments.
  package static func decode(_ data: some Collection<UInt8>) throws -> SnapshotRecord {
    try decode(Reader(Array(data)))
  }

  private static func decode(_ start: Reader) throws -> SnapshotRecord {
    var reader = start
    guard let id = SnapshotID(bytes: try reader.bytes(16)),
      let sha256 = ContentDigest(bytes: try reader.bytes(32))
    else { throw Malformed() }
    let size = try reader.integer()
    let (receivedAt, createdAt) = (try reader.date(), try reader.date())
    let recordingCount = Int(try reader.integer())
    guard let verified = SnapshotRecord.Verification(rawValue: try reader.text()) else { throw Malformed() }
    guard let report = ReportID(try reader.text()) else { throw Malformed() }
    let application = Manifest.Application(
      identifier: try reader.text(), version: try reader.text(), build: try reader.text())
    let device = Manifest.Device(
      model: try reader.text(), system: try reader.text(), systemVersion: try reader.text(),
      locale: try reader.text())
    let modules = try reader.list { reader in
      Module(name: try reader.text(), files: try reader.list { try $0.text() })
    }
    let metadata = try reader.list { (try $0.text(), try $0.text()) }
    let attachedBy = try reader.optional { try $0.text() }
    let expiresAt = try reader.optional { try $0.date() }
    let isPinned = try reader.integer() != 0
    let manifestID = try reader.optional { reader -> SnapshotID in
      guard let id = SnapshotID(bytes: try reader.bytes(16)) else { throw Malformed() }
      return id
    }
    guard reader.isAtEnd else { throw Malformed() }
    var record = SnapshotRecord(
      id: id, report: report, size: size, sha256: sha256, receivedAt: receivedAt, verified: verified,
      manifest: Manifest(
        id: id, createdAt: createdAt, application: application, device: device, modules: modules),
      metadata: Dictionary(metadata) { first, _ in first }, attachedBy: attachedBy, expiresAt: expiresAt)
    record.isPinned = isPinned
    record.manifestID = manifestID
    record.recordingCount = recordingCount
    record.createdAt = createdAt
    record.identifiers = nil
    return record
  }

  private struct Writer {
    var bytes: [UInt8] = []

    mutating func append(_ number: Int64) {
      for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    mutating func append(_ date: Date) {
      append(Int64(bitPattern: date.timeIntervalSinceReferenceDate.bitPattern))
    }

    mutating func append(_ text: String) {
      appendCount(text.utf8.count)
      bytes.append(contentsOf: text.utf8)
    }

    mutating func append<Element>(_ list: [Element], _ each: (inout Writer, Element) -> Void) {
      appendCount(list.count)
      for element in list { each(&self, element) }
    }

    mutating func append<Value>(_ value: Value?, _ each: (inout Writer, Value) -> Void) {
      append(value.map { [$0] } ?? [], each)
    }

    private mutating func appendCount(_ count: Int) {
      for shift in stride(from: 0, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: count >> shift)) }
    }
  }

  private struct Reader {
    private let data: [UInt8]
    private var index = 0

    init(_ data: [UInt8]) { self.data = data }

    var isAtEnd: Bool { index == data.count }

    mutating func bytes(_ count: Int) throws -> ArraySlice<UInt8> {
      guard count <= data.count - index else { throw Malformed() }
      defer { index += count }
      return data[index..<index + count]
    }

    mutating func integer() throws -> Int64 {
      Int64(bitPattern: try number(8))
    }

    mutating func date() throws -> Date {
      Date(timeIntervalSinceReferenceDate: Double(bitPattern: UInt64(bitPattern: try integer())))
    }

    mutating func text() throws -> String {
      guard let text = String(validating: try bytes(try count()), as: UTF8.self) else { throw Malformed() }
      return text
    }

    mutating func list<Element>(_ each: (inout Reader) throws -> Element) throws -> [Element] {
      var list: [Element] = []
      for _ in 0..<(try count()) { list.append(try each(&self)) }
      return list
    }

    mutating func optional<Value>(_ each: (inout Reader) throws -> Value) throws -> Value? {
      try list(each).first
    }

    private mutating func count() throws -> Int { Int(try number(4)) }

    private mutating func number(_ count: Int) throws -> UInt64 {
      guard count <= data.count - index else { throw Malformed() }
      var number: UInt64 = 0
      for place in 0..<count { number |= UInt64(data[index + place]) << UInt64(8 * place) }
      index += count
      return number
    }
  }
}
