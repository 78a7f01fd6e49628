import CBenchmark
import Glibc

/// Drives many connections on one thread. Every response is checked: its status, its length, and each byte if the body
/// is known.
final class LoadGenerator {
  private let poller: Int32
  private var clients: [Int32: Client] = [:]
  private let works: [Work]
  private var loads: [Load]
  private var number: Int
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 4096)

  /// Opens the connections.
  /// - Parameters:
  ///   - first: the number of the first exchange. Numbers must not repeat for a server. Connections of different runs
  ///     come from different addresses, so that no ports are missing that the system still keeps for closed connections.
  ///   - isSecure: whether the connections use TLS.
  init(port: UInt16, _ works: [Work], first: Int = 0, isSecure: Bool = false) throws {
    self.works = works
    number = first
    loads = works.map { _ in Load() }
    poller = benchmark_poller()
    guard poller >= 0 else { throw Failure("epoll: \(Failure.lastError)") }
    for (group, work) in works.enumerated() {
      for _ in 0..<work.connections {
        let client = try Client(
          port: port, index: first + clients.count, group: group, poller: poller, isSecure: isSecure)
        clients[client.descriptor] = client
      }
    }
  }

  deinit {
    room.deallocate()
    close(poller)
  }

  /// The number of the next exchange, counted over all runs.
  var nextNumber: Int { number }

  /// Keeps every connection busy for `seconds`, or until each group has completed `limit` exchanges. Then waits until
  /// the exchanges in progress are complete.
  /// - Parameter crowd: slow clients that act meanwhile.
  func run(seconds: Double, limit: Int = .max, beside crowd: SlowCrowd? = nil) throws -> [Load] {
    loads = works.map { _ in Load() }
    var begun = works.map { _ in 0 }
    let table = ClientTable(clients)
    let start = Clock.now
    let cpu = Clock.threadCPU
    let deadline = start + UInt64(seconds * 1e9)
    var lastAnswer = works.map { _ in start }
    var running = 0
    for client in clients.values where begun[client.group] < limit {
      try begin(client, at: Clock.now)
      begun[client.group] += 1
      running += 1
    }
    var events = [benchmark_event](repeating: benchmark_event(), count: 256)
    var lastEvent = start
    while running > 0 {
      let count = benchmark_wait(poller, &events, 256, crowd?.patience(at: Clock.now) ?? 30_000)
      guard count >= 0 || errno == EINTR else { throw Failure("epoll: \(Failure.lastError)") }
      if crowd != nil || count == 0 {
        let now = Clock.now
        if count > 0 { lastEvent = now }
        if now - lastEvent > 29_000_000_000 { throw Failure("no response within 30 s") }
        crowd?.act(at: now)
      }
      for index in 0..<max(0, Int(count)) {
        guard let client = table[events[index].descriptor] else { continue }
        if events[index].readiness & 2 != 0, client.isBusy { try client.send() }
        guard events[index].readiness & 1 != 0 else { continue }
        guard case .finished(let bytes) = try client.receive(into: room) else { continue }
        let now = Clock.now
        let group = client.group
        loads[group].exchanges += 1
        loads[group].bytes += bytes
        loads[group].latencies.append(now - client.began)
        lastAnswer[group] = now
        if now < deadline, begun[group] < limit {
          begun[group] += 1
          try begin(client, at: now)
        } else {
          running -= 1
        }
      }
    }
    let busy = Double(Clock.threadCPU - cpu) / Double(max(1, Clock.now - start))
    for group in loads.indices {
      loads[group].seconds = Double(lastAnswer[group] - start) / 1e9
      loads[group].generatorLoad = busy
    }
    return loads
  }

  private func begin(_ client: Client, at now: UInt64) throws {
    try client.begin(works[client.group].exchange(number), at: now)
    number += 1
  }
}

/// The clients, indexed by descriptor.
private struct ClientTable {
  private var clients: [Client?] = []

  init(_ clients: [Int32: Client]) {
    self.clients = Array(repeating: nil, count: Int(clients.keys.max() ?? 0) + 1)
    for (descriptor, client) in clients { self.clients[Int(descriptor)] = client }
  }

  subscript(descriptor: Int32) -> Client? { clients[Int(descriptor)] }
}
