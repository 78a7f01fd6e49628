import SystemIO

/// The received bytes of a connection that were not consumed yet: part of a head, the start of a body, or further
/// requests.
///
/// Not thread-safe: owned by the connection's loop.
final class ConnectionInput {
  /// The result of looking for a head.
  enum Head {
    case complete(RequestHead, ReceivedHead)
    /// The head is not complete, or has not started.
    case incomplete
    case refused(Refusal)
    /// The client has ended its side, or disconnected.
    case ended
  }

  /// The number of bytes read at once when a head is expected. This is enough for many small requests, but little of a
  /// body, because the bytes after a head are copied.
  private static let headReadSize = 16 * 1024

  private let channel: Channel
  private let loop: EventLoop
  private var bytes = ByteQueue()
  /// The parser of an incomplete head in `bytes`; `nil` if no head has started.
  private var parser: RequestParser?
  /// Whether the client has ended its side.
  private(set) var hasEnded = false
  /// Whether the last bytes filled the room for them, so that more of them can be in the socket.
  private(set) var filledRoom = false

  init(channel: Channel, loop: EventLoop) {
    self.channel = channel
    self.loop = loop
  }

  var isEmpty: Bool { bytes.isEmpty }

  // MARK: Heads

  /// Consumes a head from the received bytes.
  func nextHead() -> Head {
    var parser = self.parser ?? RequestParser(limits: loop.context.limits)
    self.parser = nil
    switch bytes.withUnsafeBytes({ parser.parse($0) }) {
    case .complete(let head):
      let received = bytes.withUnsafeBytes { makeHead(head, $0) }
      bytes.removeFirst(head.length)
      return .complete(head, received)
    case .incomplete:
      self.parser = parser
      return .incomplete
    case .refused(let refusal):
      return .refused(refusal)
    }
  }

  /// Reads from the socket, and consumes a head if it is complete. A head that is received completely is parsed in
  /// place. Only incomplete heads and the bytes after a head are copied.
  ///
  /// - Returns: `nil` if no bytes were available.
  func readHead() -> Head? {
    let room = UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<Self.headReadSize])
    let count: Int
    do {
      guard let received = try receive(into: room) else { return nil }
      count = received
    } catch {
      return .ended
    }
    guard count > 0 else { return .ended }
    let received = UnsafeRawBufferPointer(rebasing: room[..<count])
    guard bytes.isEmpty else {
      bytes.append(received)
      return nextHead()
    }
    var parser = RequestParser(limits: loop.context.limits)
    switch parser.parse(received) {
    case .complete(let head):
      if head.length < count { append(received[head.length...]) }
      return .complete(head, makeHead(head, received))
    case .incomplete:
      bytes.append(received)
      self.parser = parser
      return .incomplete
    case .refused(let refusal):
      return .refused(refusal)
    }
  }

  private func makeHead(_ head: RequestHead, _ bytes: UnsafeRawBufferPointer) -> ReceivedHead {
    ReceivedHead(
      UnsafeRawBufferPointer(rebasing: bytes[..<head.length]), facts: head,
      number: loop.makeRequestNumber())
  }

  // MARK: Bodies

  /// Receives bytes from the channel into `room`, bypassing the buffered bytes.
  ///
  /// - Returns: `nil` if no bytes were available, 0 if the client has ended its side.
  func receive(into room: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
    let count = try channel.receive(into: room)
    if count == 0 { hasEnded = true }
    filledRoom = count == room.count
    return count
  }

  /// Buffers received bytes that were not consumed.
  func append(_ more: Slice<UnsafeRawBufferPointer>) { bytes.append(UnsafeRawBufferPointer(rebasing: more)) }

  func append(_ more: Slice<UnsafeMutableRawBufferPointer>) {
    bytes.append(UnsafeRawBufferPointer(UnsafeMutableRawBufferPointer(rebasing: more)))
  }

  /// Passes the buffered bytes to `body`, and removes those that it consumed.
  ///
  /// - Returns: the number of consumed bytes.
  @discardableResult
  func consume(
    _ body: (UnsafeRawBufferPointer) throws(HTTPBodyError) -> Int
  ) throws(HTTPBodyError) -> Int {
    let count = try bytes.withUnsafeBytes(body)
    bytes.removeFirst(count)
    return count
  }

  // MARK: Waiting for the client

  /// Whether bytes are available or the client has ended its side. Consumes nothing.
  func peek() throws(SystemError) -> Bool {
    let (isReadable, hasEnded) = try channel.peek()
    if hasEnded { self.hasEnded = true }
    return isReadable
  }

  /// Drops the buffered bytes.
  func removeAll() { bytes = ByteQueue() }
}
