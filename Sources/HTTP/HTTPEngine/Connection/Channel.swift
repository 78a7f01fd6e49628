import SystemIO

/// The way of a connection's bytes: its socket, and the session that protects them if there is one.
///
/// Not thread-safe: owned by the connection's loop.
final class Channel {
  let socket: Socket
  private let loop: EventLoop
  private(set) var session: (any SecureSession)?

  init(socket: Socket, session: (any SecureSession)?, loop: EventLoop) {
    self.socket = socket
    self.session = session
    self.loop = loop
  }

  var isSecure: Bool { session != nil }

  // MARK: Receiving

  /// Receives bytes, at most the size of `room`.
  ///
  /// - Returns: `nil` if no bytes were available, 0 if the client has ended its side.
  func receive(into room: UnsafeMutableRawBufferPointer) throws(SystemError) -> Int? {
    if let session { return try session.receive(into: room) }
    return try socket.receive(into: room)
  }

  /// Whether bytes are available or the client has disconnected, and whether it has ended its side. Consumes nothing.
  /// The bytes of a session need not belong to a request.
  func peek() throws(SystemError) -> (isReadable: Bool, hasEnded: Bool) {
    if holdsBytes { return (true, false) }
    let count = try socket.peek(into: UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<1]))
    return (count != nil, count == 0)
  }

  /// Whether bytes can be received although the socket is not readable.
  var holdsBytes: Bool { session?.holdsBytes ?? false }

  var receivingAwaits: Poller.Interest { session?.receivingAwaits ?? .read }

  // MARK: Sending

  func send(_ bytes: UnsafeRawBufferPointer, more: Bool) throws(SystemError) -> Int? {
    if let session { return try session.send(bytes) }
    return try socket.send(bytes, more: more)
  }

  /// Sends up to `count` bytes of `file`, starting at `offset`. Returns 0 if `offset` is at or after the end of the
  /// file. The number can be smaller than `count` although the socket's buffer has room.
  func send(_ file: File, offset: Int64, count: Int) throws(SystemError) -> Int? {
    guard let session else { return try socket.send(file, offset: offset, count: count) }
    let room = UnsafeMutableRawBufferPointer(rebasing: loop.scratch[..<min(count, loop.scratch.count)])
    let read = try file.read(into: room, at: offset)
    guard read > 0 else { return 0 }
    return try session.send(UnsafeRawBufferPointer(rebasing: room[..<read]))
  }

  /// Sets whether bytes that do not fill a segment wait for more. A session sends whole records regardless.
  func sendFullSegments(_ value: Bool) throws(SystemError) {
    if session == nil { try socket.sendFullSegments(value) }
  }

  /// The maximum number of bytes that ``send(_:offset:count:)`` sends at once.
  var filePiece: Int { session == nil ? .max : loop.scratch.count }

  var sendingAwaits: Poller.Interest { session?.sendingAwaits ?? .write }

  /// Ends sending: the client reads the end of the stream. Receiving remains possible.
  func shutdownSending() throws(SystemError) {
    session?.endSending()
    try socket.shutdownSending()
  }

  // MARK: Ending

  /// Receives and drops bytes as they arrive on the socket.
  func dropReceived() throws(SystemError) -> Int? { try socket.receive(into: loop.scratch) }

  /// Removes the session without sending its end to the client. Bytes that are sent afterwards are not encrypted.
  func dropSession() { session = nil }

  func close() {
    session?.endSending()
    // The session must not use the descriptor's number, which can belong to another connection soon.
    session = nil
    socket.close()
  }
}
