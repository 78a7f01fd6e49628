import SystemIO

/// What a connection still has to send, and whether its client takes it fast enough.
///
/// It sends and says how far it got; the exchange decides what follows. Not thread-safe: its connection's loop owns it.
final class ConnectionOutput {
  /// How far sending got.
  enum Progress {
    /// Everything is sent.
    case done
    /// The client's system takes no more for now.
    case blocked
    /// The connection has had its share, and there is more to send.
    case shareSent
    /// The client is gone.
    case failed
    /// A file became shorter than its part of the body.
    case fileTooShort(path: String)
  }

  /// Bodies and pieces up to this size go out in one call with what precedes them.
  private static let joinedSize = 32 * 1024
  /// How much one connection may send before others have their turn.
  private static let fairShare = 1 << 20
  /// How much of a response goes out before others that wait to send: a small one isn't held up by large ones.
  private static let firstShare = 128 * 1024

  private let socket: Socket
  private let loop: EventLoop
  private var queue = OutputQueue()
  private var progress = ProgressFloor()
  /// Tasks that wait until the queue is empty.
  private var writers: [CheckedContinuation<Void, any Error>] = []

  /// Whether the client's system took less than it was given, so that the socket has to become writable first.
  private(set) var isBlocked = false
  /// When to look at the client's progress next.
  private(set) var deadline = DeadlineTable.none
  /// How many bytes the system has taken since the connection began.
  private(set) var bytesSent: Int64 = 0

  init(socket: Socket, loop: EventLoop) {
    self.socket = socket
    self.loop = loop
  }

  var isEmpty: Bool { queue.isEmpty }

  // MARK: Queueing

  /// Puts a response's head into the loop's buffer, and its body behind it unless that is a stream.
  func begin(
    _ response: borrowing HTTPServerResponse, _ head: inout ResponseHead
  ) throws(ResponseHead.Unlawful) {
    loop.output.removeAll()
    try head.write(response, into: loop.output, date: loop.dateField, serverName: loop.context.serverName)
    guard head.sendsBody else { return }
    switch response.body {
    case .empty, .stream: break
    case .bytes(let bytes):
      if bytes.count <= Self.joinedSize { loop.output.append(bytes) } else { queue.append(bytes) }
    case .parts(let parts): for part in parts { queue.append(part) }
    }
  }

  /// Puts what is in the loop's buffer behind everything else.
  func appendBuffer() { queue.append(Array(loop.output.bytes)) }

  /// Resumes when everything before is sent.
  func waitUntilEmpty(_ continuation: CheckedContinuation<Void, any Error>) {
    if isEmpty { continuation.resume() } else { writers.append(continuation) }
  }

  /// Drops everything: the client doesn't hear the server any more.
  func discard() {
    queue.removeAll()
    unblock()
    resumeWriters(with: .failure(HTTPBodyError.disconnected))
  }

  // MARK: Sending

  /// Sends what is in the loop's buffer and then the queue, which holds nothing older.
  func sendBuffer() -> Progress {
    let bytes = loop.output.bytes
    let isAlone = queue.isEmpty
    do throws(SystemError) {
      let sent = try socket.send(bytes, more: !isAlone) ?? 0
      bytesSent += Int64(sent)
      if sent < bytes.count {
        queue.prepend(Array(bytes[sent...]))
        return block()
      }
    } catch {
      return .failed
    }
    return isAlone ? finish() : sendFirst()
  }

  /// Sends one piece of a stream.
  func sendStreamed(_ piece: [UInt8], _ framing: ResponseHead.Framing) -> Progress {
    guard framing == .chunked else {
      queue.append(piece)
      return sendFirst()
    }
    let buffer = loop.output
    buffer.removeAll()
    buffer.append(Int64(piece.count), radix: 16)
    buffer.append(literal: "\r\n")
    if piece.count <= Self.joinedSize {
      buffer.append(piece)
      buffer.append(literal: "\r\n")
    } else {
      queue.append(piece)
      queue.append([.carriageReturn, .lineFeed])
    }
    return sendBuffer()
  }

  /// Sends the end of a stream.
  func endStream(_ framing: ResponseHead.Framing) -> Progress {
    guard framing == .chunked else { return send() }
    loop.output.removeAll()
    loop.output.append(literal: "0\r\n\r\n")
    return sendBuffer()
  }

  /// Sends the beginning of what has just been queued.
  private func sendFirst() -> Progress {
    let isFirst = !loop.turns.hasSenders && loop.turns.sendingLeft > 0
    return send(upTo: isFirst ? Self.fairShare : Self.firstShare)
  }

  /// Sends as much of the queue as the client takes and fairness allows.
  func send(upTo limit: Int = fairShare) -> Progress {
    var share = limit
    do throws(SystemError) {
      while share > 0, let item = queue.first {
        let sent: Int?
        let asked: Int
        switch item {
        case .bytes(let bytes, let start):
          asked = bytes.count - start
          sent = try send(bytes, from: start)
        case .file(let file, let offset, let remaining):
          asked = Int(min(remaining, Int64(share)))
          sent = try socket.send(file, offset: offset, count: asked)
          if sent == 0 { return .fileTooShort(path: file.path) }
        }
        guard let sent else { return block() }
        bytesSent += Int64(sent)
        queue.advance(sent)
        share -= sent
        loop.turns.sendingLeft -= sent
        // Less than asked for means full: asking once more would read from the file for nothing.
        if sent < asked { return block() }
      }
    } catch {
      return .failed
    }
    return isEmpty ? finish() : .shareSent
  }

  private func send(_ bytes: [UInt8], from start: Int) throws(SystemError) -> Int? {
    let more = queue.hasMore
    var outcome: Result<Int?, SystemError> = .success(nil)
    bytes.withUnsafeBytes { bytes in
      outcome = Result { () throws(SystemError) -> Int? in
        try socket.send(UnsafeRawBufferPointer(rebasing: bytes[start...]), more: more)
      }
    }
    return try outcome.get()
  }

  private func finish() -> Progress {
    unblock()
    resumeWriters(with: .success(()))
    return .done
  }

  private func resumeWriters(with result: Result<Void, any Error>) {
    guard !writers.isEmpty else { return }
    for writer in writers { writer.resume(with: result) }
    writers = []
  }

  // MARK: The client's progress

  /// Waits until the client takes more, but not without a limit.
  private func block() -> Progress {
    _ = renewDeadline()
    isBlocked = true
    return .blocked
  }

  private func unblock() {
    isBlocked = false
    deadline = DeadlineTable.none
  }

  /// Sets the time at which to look at the client's progress next; `false` if the client is too slow.
  ///
  /// What counts is what its system acknowledged: ours may hold megabytes, and asks for more only when a third of
  /// them has gone, which a slow line can need minutes for.
  func renewDeadline() -> Bool {
    let taken = bytesSent - Int64(socket.unacknowledgedBytes)
    if !isBlocked { progress.begin(at: loop.now, taken: taken) }
    guard let next = progress.deadline(at: loop.now, taken: taken, limits: loop.context.limits) else {
      return false
    }
    deadline = next
    return true
  }
}
