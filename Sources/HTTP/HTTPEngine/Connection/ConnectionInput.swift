import SystemIO

/// What has come on a connection and is not used yet: part of a head, the beginning of a body, or the next requests.
///
/// Not thread-safe: its connection's loop owns it.
final class ConnectionInput {
  /// What was found where a head is expected.
  enum Head {
    case complete(RequestHead, ReceivedHead)
    /// Part of a head, or nothing of one.
    case incomplete
    case refused(Refusal)
    /// The client has ended its side, or is gone.
    case ended
  }

  /// How much is read at once where a head is expected: room for many small requests, but little of a body, since what
  /// follows a head is copied.
  private static let headReadSize = 16 * 1024

  private let socket: Socket
  private let peer: SocketAddress
  private let loop: EventLoop
  private var bytes = ByteQueue()
  /// Has judged the part of a head that is in `bytes`; `nil` where nothing of one has come.
  private var parser: RequestParser?
  /// Whether the client has ended its side.
  private(set) var hasEnded = false

  init(socket: Socket, peer: SocketAddress, loop: EventLoop) {
    self.socket = socket
    self.peer = peer
    self.loop = loop
  }

  var isEmpty: Bool { bytes.isEmpty }

  // MARK: Heads

  /// Takes a head from what has come.
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

  /// Reads from the socket, and takes a head if all of it has come. A whole head is parsed where it was read, so that only
  /// parts of heads and what follows them are ever kept.
  /// - Returns: `nil` where nothing has come.
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
      UnsafeRawBufferPointer(rebasing: bytes[..<head.length]), facts: head, peer: peer,
      number: loop.makeRequestNumber())
  }

  // MARK: Bodies

  /// Receives into `room`, ahead of what is kept.
  /// - Returns: `nil` where nothing has come, 0 at the end of the client's side.
  func receive(into room: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
    let count = try socket.receive(into: room)
    if count == 0 { hasEnded = true }
    return count
  }

  /// Keeps bytes that were received and not used.
  func append(_ more: Slice<UnsafeRawBufferPointer>) { bytes.append(UnsafeRawBufferPointer(rebasing: more)) }

  func append(_ more: Slice<UnsafeMutableRawBufferPointer>) {
    bytes.append(UnsafeRawBufferPointer(UnsafeMutableRawBufferPointer(rebasing: more)))
  }

  /// Has `body` read what is kept; the bytes that it consumed are dropped.
  /// - Returns: how many it consumed.
  @discardableResult
  func consume(
    _ body: (UnsafeRawBufferPointer) throws(HTTPBodyError) -> Int
  ) throws(HTTPBodyError) -> Int {
    let count = try bytes.withUnsafeBytes(body)
    bytes.removeFirst(count)
    return count
  }

  // MARK: Waiting for the client

  /// Looks whether anything has come, without taking it.
  func peek() throws(SystemError) -> Bool {
    let count = try socket.peek(into: UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<1]))
    if count == 0 { hasEnded = true }
    return count != nil
  }

  /// Drops what is kept.
  func removeAll() { bytes = ByteQueue() }
}
