public import Foundation
import SystemIO

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An accepted connection, used by one script on one thread.
public final class ScriptedConnection {
  private var descriptor: Int32
  private let log: RequestLog
  private var buffer: [UInt8] = []

  init(_ descriptor: Int32, log: RequestLog) {
    self.descriptor = descriptor
    self.log = log
    // Longer than any test, even with a sanitizer on a busy machine. It ends a script that would hang.
    var timeout = timeval(tv_sec: 300, tv_usec: 0)
    let length = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, length)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, length)
    #if canImport(Darwin)
      var on: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
    #endif
  }

  /// Reads the head of a request.
  @discardableResult
  public func readHead() throws -> ScriptedRequest {
    while true {
      if let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) {
        let lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        buffer.removeSubrange(..<end.upperBound)
        let request = ScriptedRequest(
          line: lines[0],
          fields: lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return .init(
              name: parts[0].lowercased(),
              value: parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : "")
          })
        log.record(request)
        return request
      }
      guard let more = try receive() else { throw ScriptedError("the head ended early") }
      buffer += more
    }
  }

  /// Reads `count` bytes, and calls `body` with each piece.
  public func readBody(_ count: Int, _ body: ([UInt8]) throws -> Void) throws {
    var rest = count
    while rest > 0 {
      if buffer.isEmpty {
        guard let more = try receive() else { throw ScriptedError("the body ended early") }
        buffer = more
      }
      let piece = Array(buffer.prefix(rest))
      buffer.removeFirst(piece.count)
      rest -= piece.count
      try body(piece)
    }
  }

  /// Reads a complete request: its head, and a body with a declared length. Answers `Expect: 100-continue`.
  @discardableResult
  public func readRequest() throws -> (head: ScriptedRequest, body: Data) {
    let head = try readHead()
    if head["expect"] != nil { try write("HTTP/1.1 100 Continue\r\n\r\n") }
    var body = Data()
    try readBody(head["content-length"].flatMap { Int($0) } ?? 0) { body.append(contentsOf: $0) }
    return (head, body)
  }

  /// Writes a complete response that ends the connection.
  public func respond(_ status: String, _ fields: [String] = [], body: some Sequence<UInt8> = [UInt8]())
    throws
  {
    let body = Array(body)
    let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.count)", "Connection: close"] + fields
    try write(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
  }

  /// Writes `text`.
  public func write(_ text: String) throws { try write(Array(text.utf8)) }

  /// Writes `bytes`.
  public func write(_ bytes: [UInt8]) throws {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        #if canImport(Darwin)
          send(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written, 0)
        #else
          send(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written, Int32(MSG_NOSIGNAL))
        #endif
      }
      guard count > 0 else { throw ScriptedError("send: \(errno)") }
      written += count
    }
  }

  /// Reads and drops bytes until the peer closes.
  public func waitForClose() throws { while try receive() != nil {} }

  /// Closes the sending side, and reads until the peer closes, so that no byte is lost.
  public func linger() throws {
    shutdown(descriptor, Int32(SHUT_WR))
    try waitForClose()
  }

  /// Resets the connection, so that the peer's next read or write fails.
  public func reset() {
    var option = makeLinger()
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout.size(ofValue: option)))
    close()
  }

  func close() {
    guard descriptor >= 0 else { return }
    _ = Descriptor(taking: descriptor)
    descriptor = -1
  }

  /// Receives some bytes; `nil` at the end.
  private func receive() throws -> [UInt8]? {
    let piece = [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, filled in
      filled = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
    }
    return piece.isEmpty ? nil : piece
  }
}

// The method with the same name hides the type.
private func makeLinger() -> linger { linger(l_onoff: 1, l_linger: 0) }
