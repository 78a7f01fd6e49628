import HTTPTypes
import Logging
import SystemIO

extension Connection {
  /// Bodies up to this size go out in one call with their head.
  private static let joinedSize = 32 * 1024
  /// How much one connection may send before others have their turn.
  static let fairShare = 1 << 20
  /// How much of a response goes out before others that wait to send: a small one isn't held up by large ones.
  private static let firstShare = 128 * 1024

  // MARK: Responses

  /// Sends a response, or the beginning of one that is a stream.
  func write(_ response: HTTPServerResponse) {
    guard phase == .request, !exchange.isQueued else { return }
    if exchange.isUnheard { return close() }
    // It goes out behind all interim answers; what is written first of a request is its answer.
    guard output.isEmpty else {
      if held == nil { held = response }
      return
    }
    let output = loop.output
    output.removeAll()
    if let body, !body.reader.isComplete, response.body.length != nil {
      if !body.judgeUnread() { return refuse(.brokenCoding) }
      if !body.isWorthDraining { closesAfterResponse = true }
    }
    var head = ResponseHead(
      response, isHEAD: exchange.isHEAD, minorVersion: exchange.minorVersion,
      keepsAlive: !closesAfterResponse && !loop.isStopping)
    do throws(ResponseHead.Unlawful) {
      try head.write(response, into: output, date: loop.dateField, serverName: loop.context.serverName)
    } catch {
      loop.context.logger.error("unlawful response", metadata: ["status": "\(response.status.code)"])
      return write(Refusal.internalError.problem.response(requestID: exchange.id))
    }
    closesAfterResponse = head.closes
    exchange.status = response.status.code
    exchange.framing = head.framing
    exchange.isQueued = true
    if head.sendsBody {
      switch response.body {
      case .empty: break
      case .bytes(let bytes): queueWithHead(bytes)
      case .parts(let parts):
        for part in parts { self.output.append(part) }
      case .stream: exchange.isQueued = false
      }
    }
    sendHead()
  }

  private func queueWithHead(_ bytes: [UInt8]) {
    if bytes.count <= Self.joinedSize { loop.output.append(bytes) } else { output.append(bytes) }
  }

  /// Sends what stands in the loop's buffer and then the queue, which holds nothing older.
  func sendHead() {
    let bytes = loop.output.bytes
    let isAlone = output.isEmpty
    do throws(SystemError) {
      let sent = try socket.send(bytes, more: !isAlone) ?? 0
      exchange.bytesSent += Int64(sent)
      if sent < bytes.count {
        output.prepend(Array(bytes[sent...]))
        return waitUntilWritable()
      }
    } catch {
      return sendingFailed()
    }
    if isAlone { outputIsEmpty() } else { beginSending() }
  }

  func writeStreamed(_ piece: [UInt8]) {
    guard exchange.framing == .chunked else {
      output.append(piece)
      return beginSending()
    }
    let buffer = loop.output
    buffer.removeAll()
    buffer.append(Int64(piece.count), radix: 16)
    buffer.append(literal: "\r\n")
    if piece.count <= Self.joinedSize {
      buffer.append(piece)
      buffer.append(literal: "\r\n")
    } else {
      output.append(piece)
      output.append([.carriageReturn, .lineFeed])
    }
    sendHead()
  }

  func endStream() {
    exchange.isQueued = true
    if exchange.framing == .chunked {
      loop.output.removeAll()
      loop.output.append(literal: "0\r\n\r\n")
      sendHead()
    } else {
      flush()
    }
  }

  /// Ends the connection so that the client can't take what it has for the whole.
  func abort() {
    if exchange.framing == .untilClose {
      do { try socket.resetOnClose() } catch { loop.context.logger.debug("connection: \(error)") }
    }
    close()
  }

  /// Ends the request `number` and its connection, if it still runs; what the system has not sent yet is discarded.
  func abort(request number: UInt64) {
    guard phase == .request, exchange.number == number else { return }
    do { try socket.resetOnClose() } catch { loop.context.logger.debug("connection: \(error)") }
    close()
  }

  /// Answers `Expect: 100-continue`, unless the client has begun to send without waiting (RFC 9110 §10.1.1).
  func sendContinueIfAwaited() {
    guard exchange.awaitsContinue, !exchange.isQueued else { return }
    exchange.awaitsContinue = false
    guard input.isEmpty, mayAnswerInterim else { return }
    loop.output.removeAll()
    loop.output.append(literal: "HTTP/1.1 100 Continue\r\n\r\n")
    queueInterim()
  }

  // MARK: The queue

  /// Sends the beginning of what has just been queued.
  private func beginSending() {
    let isFirst = !loop.turns.hasSenders && loop.turns.sendingLeft > 0
    flush(upTo: isFirst ? Self.fairShare : Self.firstShare)
  }

  /// Sends as much of the queue as the client takes and fairness allows.
  func flush(upTo limit: Int = fairShare) {
    var share = limit
    do throws(SystemError) {
      while share > 0, let item = output.first {
        let sent: Int?
        let asked: Int
        switch item {
        case .bytes(let bytes, let start):
          let more = output.hasMore
          asked = bytes.count - start
          var outcome: Result<Int?, SystemError> = .success(nil)
          bytes.withUnsafeBytes { bytes in
            outcome = Result { () throws(SystemError) -> Int? in
              try socket.send(UnsafeRawBufferPointer(rebasing: bytes[start...]), more: more)
            }
          }
          sent = try outcome.get()
        case .file(let file, let offset, let remaining):
          asked = Int(min(remaining, Int64(share)))
          sent = try socket.send(file, offset: offset, count: asked)
          if sent == 0 {
            loop.context.logger.error(
              "a file became shorter while it was sent", metadata: ["path": "\(file.path)"])
            return close()
          }
        }
        guard let sent else { return waitUntilWritable() }
        exchange.bytesSent += Int64(sent)
        output.advance(sent)
        share -= sent
        loop.turns.sendingLeft -= sent
        // Less than asked for means full: asking once more would read from the file for nothing.
        if sent < asked { return waitUntilWritable() }
      }
    } catch {
      return sendingFailed()
    }
    if output.isEmpty { outputIsEmpty() } else { awaitTurn() }
  }

  /// Nobody hears the server any more. What came of a body before is still handed out, and its end tells the handler;
  /// where the response was on its way, all is over.
  private func sendingFailed() {
    guard phase == .request, mayAnswerInterim, let body, !body.reader.isComplete else { return close() }
    exchange.isUnheard = true
    output.removeAll()
    isBlocked = false
    setWriteDeadline(DeadlineTable.none)
    updateWriteInterest()
    resumeWriters(with: .failure(HTTPBodyError.disconnected))
  }

  /// Waits until the client takes more, and not for ever.
  private func waitUntilWritable() {
    _ = renewWriteDeadline()
    if !isBlocked {
      isBlocked = true
      updateWriteInterest()
    }
  }

  /// Sets the time at which the client's progress is looked at next; `false` if the client is too slow.
  ///
  /// What counts is what its system acknowledged: ours may hold megabytes, and asks for more only when a third of
  /// them has gone, which a slow line can need minutes for.
  func renewWriteDeadline() -> Bool {
    let taken = exchange.bytesSent - Int64(socket.unacknowledgedBytes)
    if !isBlocked { exchange.progress.begin(at: loop.now, taken: taken) }
    guard let deadline = exchange.progress.deadline(at: loop.now, taken: taken, limits: limits) else {
      return false
    }
    setWriteDeadline(deadline)
    return true
  }

  private func outputIsEmpty() {
    if isBlocked {
      isBlocked = false
      setWriteDeadline(DeadlineTable.none)
      updateWriteInterest()
    }
    resumeWriters(with: .success(()))
    if let held {
      self.held = nil
      return write(held)
    }
    guard exchange.isQueued else { return }
    if let body, !body.reader.isComplete, !body.isWorthDraining { closesAfterResponse = true }
    if closesAfterResponse { return finishAndClose() }
    if let body, !body.reader.isComplete {
      // From here on the rest is nobody's.
      body.end()
      phase = .draining
      setReadDeadline(loop.now + limits.lingerTime.milliseconds)
      setInterest(reading: true)
      return drainBody()
    }
    endExchange(isComplete: true)
    waitForRequest()
  }
}
