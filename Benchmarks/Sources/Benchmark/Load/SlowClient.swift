import Glibc

/// One that holds a server up.
final class SlowClient {
  /// What it does.
  enum Kind: String, CaseIterable {
    /// Sends its head byte by byte.
    case heads
    /// Sends a body byte by byte.
    case bodies
    /// Asks for a large file and takes it byte by byte, by the smallest window that the system has.
    case readers
    /// Sends part of a request and closes its half of the connection, again and again.
    case halfClosed
    /// Resets its connection: before, in and behind the head, in a body, in a download; again and again.
    case resets
  }

  let kind: Kind
  /// How often it was connected, and how often that failed.
  private(set) var begun = 0
  private(set) var refused = 0
  private let number: Int
  private let port: UInt16
  private let upload: () -> Exchange
  private let download: Exchange
  private var turn: Int
  private var descriptor: Int32 = -1

  init(
    _ kind: Kind, _ number: Int, port: UInt16, upload: @escaping () -> Exchange, download: Exchange
  ) {
    self.kind = kind
    self.number = number
    self.port = port
    self.upload = upload
    self.download = download
    // Not all of a kind are in the same state at once.
    turn = number
  }

  deinit { leave() }

  private func leave() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
  }

  /// Begins anew; one that is not let in tries again when it acts.
  func begin() {
    leave()
    do {
      descriptor = try Client.connect(
        port: port, from: 0x7F00_0100 + UInt32(number / 50),
        receiveBuffer: kind == .readers || kind == .resets ? 4096 : nil)
    } catch {
      refused += 1
      return
    }
    begun += 1
    turn += 1
    switch kind {
    case .heads: send(Array("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ".utf8))
    case .bodies: send(upload().head)
    case .readers: send(download.head)
    case .halfClosed:
      send(turn % 2 == 0 ? upload().head : Array("GET / HTTP/1.1\r\nHost: 1".utf8))
      shutdown(descriptor, Int32(SHUT_WR))
    case .resets:
      switch turn % 4 {
      case 0: break
      case 1: send(Array("GET / HTTP/1.1\r\nHost: 1".utf8))
      case 2: send(upload().head + [0x50, 0x4B])
      default: send(download.head)
      }
    }
  }

  /// What it does once a second. One that the server has let go comes back.
  func act() {
    switch kind {
    case .heads, .bodies:
      if !send([UInt8(ascii: "s")]) { begin() }
    case .readers:
      var byte: UInt8 = 0
      let count = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT))
      if count == 0 || count < 0 && errno != EAGAIN { begin() }
    case .halfClosed: begin()
    case .resets:
      var linger = linger(l_onoff: 1, l_linger: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
      begin()
    }
  }

  @discardableResult
  private func send(_ bytes: [UInt8]) -> Bool {
    Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
      == bytes.count
  }
}
