import Foundation

/// Clients that hold a server up, a thousand of each kind at once, for as long as this lives.
///
/// Each does its worst once a second, a few of them in every millisecond.
final class SlowCrowd {
  /// What a client does.
  enum Kind: CaseIterable {
    /// Sends its head byte by byte.
    case slowHead
    /// Sends a body byte by byte.
    case slowBody
    /// Asks for a large file and takes it byte by byte, by the smallest window that the system has.
    case slowReader
    /// Sends part of a request and closes its half of the connection, again and again.
    case halfClosed
    /// Resets its connection: before, in and behind the head, in a body, in a download; again and again.
    case reset
  }

  static let clientsOfAKind = 1000
  private static let slices = 1000

  private let thread: Thread
  private let isGone = DispatchSemaphore(value: 0)

  /// Connects them all.
  /// - Parameters:
  ///   - upload: a request with a body that is never whole.
  ///   - download: a request for a large file.
  init(port: UInt16, upload: Exchange, download: Exchange) {
    let (requests, isThere) = ((upload.head, download.head), DispatchSemaphore(value: 0))
    thread = Thread { [isGone] in
      Cores.bind(to: Cores.generator)
      Self.act(port, requests.0, requests.1, isThere)
      isGone.signal()
    }
    thread.start()
    isThere.wait()
  }

  private static func act(
    _ port: UInt16, _ upload: [UInt8], _ download: [UInt8], _ isThere: DispatchSemaphore
  ) {
    // Kinds side by side.
    let clients = (0..<clientsOfAKind).flatMap { number in
      Kind.allCases.map { SlowClient($0, number, port: port, upload: upload, download: download) }
    }
    for client in clients { client.begin() }
    isThere.signal()
    let share = clients.count / slices
    while !Thread.current.isCancelled {
      for slice in 0..<slices where !Thread.current.isCancelled {
        for client in clients[slice * share..<(slice + 1) * share] { client.act() }
        usleep(UInt32(1_000_000 / slices))
      }
    }
  }

  /// Ends when all have gone.
  deinit {
    thread.cancel()
    isGone.wait()
  }
}

/// One of the crowd.
private final class SlowClient {
  private let kind: SlowCrowd.Kind
  private let number: Int
  private let port: UInt16
  private let upload: [UInt8]
  private let download: [UInt8]
  private var turn = 0
  private var descriptor: Int32 = -1

  init(_ kind: SlowCrowd.Kind, _ number: Int, port: UInt16, upload: [UInt8], download: [UInt8]) {
    self.kind = kind
    self.number = number
    self.port = port
    self.upload = upload
    self.download = download
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
        receiveBuffer: kind == .slowReader || kind == .reset ? 4096 : nil)
    } catch {
      return
    }
    turn += 1
    switch kind {
    case .slowHead: send(Array("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ".utf8))
    case .slowBody: send(upload)
    case .slowReader: send(download)
    case .halfClosed:
      send(turn % 2 == 0 ? upload : Array("GET / HTTP/1.1\r\nHost: 1".utf8))
      shutdown(descriptor, Int32(SHUT_WR))
    case .reset:
      switch turn % 4 {
      case 0: break
      case 1: send(Array("GET / HTTP/1.1\r\nHost: 1".utf8))
      case 2: send(upload + [0x50, 0x4B])
      default: send(download)
      }
    }
  }

  /// What it does once a second. One that the server has let go comes back.
  func act() {
    switch kind {
    case .slowHead, .slowBody:
      if !send([UInt8(ascii: "s")]) { begin() }
    case .slowReader:
      var byte: UInt8 = 0
      let count = recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT))
      if count == 0 || count < 0 && errno != EAGAIN { begin() }
    case .halfClosed: begin()
    case .reset:
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
