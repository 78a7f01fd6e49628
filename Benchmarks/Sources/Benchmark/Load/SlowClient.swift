import Glibc

/// A client that keeps a server's resources occupied.
final class SlowClient {
  /// The behaviour of a slow client.
  enum Kind: String, CaseIterable {
    /// Sends its head byte by byte.
    case heads
    /// Sends a body byte by byte.
    case bodies
    /// Requests a large file and receives it byte by byte, with the smallest receive window of the system.
    case readers
    /// Repeatedly sends part of a request and closes its sending side.
    case halfClosed
    /// Repeatedly resets its connection: before, within and after the head, within a body, within a download.
    case resets
  }

  let kind: Kind
  /// The number of connections, and of failures to connect.
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
    // Distributes the clients of a kind over its states.
    turn = number
  }

  deinit { leave() }

  private func leave() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
  }

  /// Opens a new connection. If the server refuses it, the next call of ``act()`` tries again.
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

  /// Performs the step that is due each second. Reconnects if the server has closed the connection.
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
