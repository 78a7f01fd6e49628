/// The first bytes of a TLS connection, until they contain the client's first message, a ClientHello (RFC 8446 §4.1.2).
/// It is a pure value without I/O.
struct ClientHelloBuffer: Sendable {
  /// The maximum number of bytes, with the heads of their records: a record of the maximum size. Usual messages have
  /// 200 to 2,000 bytes.
  static let limit = headSize + recordSize

  enum State: Hashable, Sendable {
    /// More bytes are needed.
    case incomplete
    case complete
    /// The bytes do not begin with a ClientHello, or with one that exceeds ``ClientHelloBuffer/limit``.
    case refused
  }

  private static let headSize = 5
  private static let recordSize = 1 << 14
  private static let handshake: UInt8 = 22
  private static let clientHello: UInt8 = 1

  private(set) var bytes: [UInt8] = []
  private(set) var state = State.incomplete
  /// The index of the first record that is not complete.
  private var record = 0
  /// The message's kind and length, as far as they are in complete records.
  private var head: [UInt8] = []
  /// The number of the message's bytes in complete records.
  private var received = 0

  /// The number of bytes that can be added.
  var room: Int { Self.limit - bytes.count }

  mutating func append(_ more: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: more)
    // Fewer bytes than a record's head do not show the protocol.
    while state == .incomplete, record + Self.headSize <= bytes.count, readRecord() {}
    if state == .incomplete, room <= 0 { state = .refused }
  }

  /// Reads a record, and returns whether it is complete.
  private mutating func readRecord() -> Bool {
    let length = Int(bytes[record + 3]) << 8 | Int(bytes[record + 4])
    guard bytes[record] == Self.handshake, bytes[record + 1] == 3, (1...Self.recordSize).contains(length)
    else {
      state = .refused
      return false
    }
    let content = bytes[(record + Self.headSize)...].prefix(length)
    let head = head + content.prefix(4 - head.count)
    let received = received + content.count
    if let kind = head.first, kind != Self.clientHello { state = .refused }
    if state == .incomplete, head.count == 4 {
      let size = 4 + (Int(head[1]) << 16 | Int(head[2]) << 8 | Int(head[3]))
      if received >= size { state = .complete } else if size > Self.recordSize { state = .refused }
    }
    guard content.count == length else { return false }
    record += Self.headSize + length
    (self.head, self.received) = (head, received)
    return true
  }
}
