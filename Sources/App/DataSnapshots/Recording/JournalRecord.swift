import Foundation
import ZipArchive

/// A redacted recording or attachment in a ``RecordingJournal``.
///
/// In the file, a record is a head of 36 bytes, the name in UTF-8, and the data. All numbers are little-endian. The data
/// of an exchange begins with the length of its ``StoredExchange`` in 8 bytes, and the ``StoredExchange``.
///
/// | bytes | contents |
/// | --- | --- |
/// | 0–3 | `DSJ1` |
/// | 4–7 | the CRC-32 of everything that follows |
/// | 8–11 | the kind |
/// | 12–15 | how many calls are kept; 0 for the latest only |
/// | 16–23 | the time in milliseconds since 1970 |
/// | 24–27 | the length of the name |
/// | 28–35 | the length of the data |
struct JournalRecord: Hashable, Sendable {
  enum Kind: UInt32, Sendable { case recording, attachment, exchange }

  let kind: Kind
  /// The identifier, or the attachment's name.
  let name: String
  let retention: SnapshotMode.Policy.Retention
  let time: Date
  let data: Data
  /// The ``StoredExchange`` of an exchange, whose response's body is `data`.
  var exchange: Data?

  /// The identifier that stands for the record in events.
  var identifier: String { kind == .attachment ? "attachments/" + name : name }

  static let headLength = 36
  private static let mark = Array("DSJ1".utf8)

  /// The bytes before the data.
  var head: [UInt8] {
    let name = Array(name.utf8)
    var fields: [UInt8] = []
    let kept: UInt32 =
      switch retention {
      case .latest: 0
      case .history(let limit): UInt32(clamping: max(limit, 1))
      }
    Self.append(kind.rawValue, to: &fields)
    Self.append(kept, to: &fields)
    Self.append(Int64((time.timeIntervalSince1970 * 1000).rounded()), to: &fields)
    Self.append(UInt32(clamping: name.count), to: &fields)
    var exchangePart: [UInt8] = []
    if let exchange {
      Self.append(UInt64(exchange.count), to: &exchangePart)
      exchangePart += exchange
    }
    Self.append(UInt64(exchangePart.count + data.count), to: &fields)
    fields += name + exchangePart
    var head = Self.mark
    Self.append(Self.checksum(fields, data), to: &head)
    return head + fields
  }

  /// Reads the record at `offset` of `file`.
  /// - Returns: the record and the offset behind it; `nil` if there is no complete record with the right checksum.
  static func read<Failure: Error>(
    at offset: Int64, of size: Int64, _ read: (_ count: Int, _ offset: Int64) throws(Failure) -> [UInt8]
  ) throws(Failure) -> (record: JournalRecord, end: Int64)? {
    guard size - offset >= headLength else { return nil }
    let head = try read(headLength, offset)
    guard head.count == headLength, head.starts(with: mark) else { return nil }
    let nameLength = Int64(number(head[24..<28]))
    let dataLength = Int64(exactly: number(head[28..<36])) ?? .max
    let rest = size - offset - Int64(headLength)
    guard nameLength <= rest, dataLength <= rest - nameLength,
      let kind = Kind(rawValue: UInt32(number(head[8..<12])))
    else { return nil }
    let nameOffset = offset + Int64(headLength)
    let name = try read(Int(nameLength), nameOffset)
    let data = Data(try read(Int(dataLength), nameOffset + nameLength))
    guard name.count == Int(nameLength), data.count == Int(dataLength),
      checksum(head[8...] + name, data) == UInt32(number(head[4..<8]))
    else { return nil }
    let kept = Int(number(head[12..<16]))
    guard let (exchange, body) = parts(of: data, kind) else { return nil }
    let record = JournalRecord(
      kind: kind, name: String(decoding: name, as: UTF8.self),
      retention: kept == 0 ? .latest : .history(limit: kept),
      time: Date(timeIntervalSince1970: Double(Int64(bitPattern: number(head[16..<24]))) / 1000), data: body,
      exchange: exchange)
    return (record, nameOffset + nameLength + dataLength)
  }

  private static func checksum(_ fields: [UInt8], _ data: Data) -> UInt32 {
    unsafe data.withUnsafeBytes { unsafe ZipArchive.checksum(of: $0, after: ZipArchive.checksum(of: fields)) }
  }

  private static func parts(of data: Data, _ kind: Kind) -> (exchange: Data?, body: Data)? {
    guard kind == .exchange else { return (nil, data) }
    guard data.count >= 8, let length = Int(exactly: number(Array(data.prefix(8))[...])),
      length <= data.count - 8
    else { return nil }
    return (Data(data.dropFirst(8).prefix(length)), Data(data.dropFirst(8 + length)))
  }

  private static func checksum(_ fields: ArraySlice<UInt8>, _ data: Data) -> UInt32 {
    checksum(Array(fields), data)
  }

  private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    unsafe withUnsafeBytes(of: number.littleEndian) { unsafe bytes += $0 }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
