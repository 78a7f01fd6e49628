import Foundation
import HTTPClient
import HTTPTypes
import SystemIO
import TestSupport

@testable import SnapshotClient

/// A process of an app with a queue, from a launch to its end. It can be stopped at each step that it takes.
final class AppProcess: Sendable {
  private struct State {
    var steps: [String] = []
    var stop: (step: Int, isEnd: Bool, action: @Sendable () -> Void)?
    var isDead = false
    var isSuspended = false
  }

  let daemon: TransferDaemon
  let exchanges = BackgroundExchanges()
  fileprivate let direct = SnapshotAPIClient.makeDefaultTransport()
  private let state = Lock(State())
  /// Fired when the process was stopped.
  let isStopped = Signal()
  private let mayGoOn = Signal()
  /// Never fired: what a dead process waits for never comes.
  private let never = Signal()
  /// Keeps all processes, so that the tasks of dead ones, which never end, are no leaks.
  private static let all = Lock<[AppProcess]>([])

  init(_ daemon: TransferDaemon) {
    self.daemon = daemon
    Self.all.withLock { $0.append(self) }
  }

  /// All steps until now.
  var steps: [String] { state.withLock { $0.steps } }
  /// Whether it was stopped.
  var wasStopped: Bool {
    state.withLock { state in state.stop.map { $0.step <= state.steps.count } ?? false }
  }
  var isDead: Bool { state.withLock { $0.isDead } }

  /// Stops the process before step number `step`, for good if `isEnd`, and calls `action`.
  func stop(before step: Int, isEnd: Bool, _ action: @escaping @Sendable () -> Void) {
    state.withLock { $0.stop = (step, isEnd, action) }
  }

  /// Ends the process now.
  func end() {
    state.withLock { $0.isDead = true }
    daemon.suspendApp()
  }

  /// Continues a suspended process.
  func goOn() {
    state.withLock { $0.isSuspended = false }
    mayGoOn.fire()
  }

  /// A client whose requests are steps.
  func client(of server: URL) throws -> SnapshotAPIClient {
    try SnapshotAPIClient(
      server: server, transport: DirectTransport(app: self), configuration: .forTests())
  }

  func background(pieceBytes: Int64) -> BackgroundUploads {
    daemon.connect(exchanges)
    var background = BackgroundUploads(BackgroundDouble(app: self))
    background.pieceBytes = pieceBytes
    return background
  }

  /// A queue's folder whose changes are steps after the bundle is attached.
  func folder(at path: String) throws -> QueueFolder {
    try QueueFolder(path) { [self] (step) throws(SystemError) in
      switch step {
      case .stage, .writeState, .publish, .flush: break
      case .saveState, .removeBundle, .retire: record("\(step)")
      }
      if isDead { throw SystemError(operation: "\(step)", code: EIO) }
    }
  }

  fileprivate func record(_ name: String) {
    let action: (@Sendable () -> Void)? = state.withLock { state in
      guard !state.isDead else { return nil }
      state.steps.append(name)
      guard let stop = state.stop, stop.step == state.steps.count else { return nil }
      state.isDead = stop.isEnd
      state.isSuspended = !stop.isEnd
      return stop.action
    }
    guard let action else { return }
    daemon.suspendApp()
    action()
    isStopped.fire()
  }

  /// Notes a step of the network, and waits while the process is suspended.
  /// - Returns: whether the process lives.
  fileprivate func take(_ name: String) async -> Bool {
    record(name)
    if state.withLock({ $0.isSuspended }) { await mayGoOn.wait() }
    guard isDead else { return true }
    await never.wait()
    return false
  }
}

/// What the app sends itself.
private struct DirectTransport: Transport {
  let app: AppProcess

  func send(
    _ request: HTTPRequest, body: TransportBody, destination: TransportDestination,
    timeouts: TransportTimeouts, events: (@Sendable (TransportEvent) -> Void)?
  ) async throws(TransportError) -> TransportResponse {
    guard await app.take("\(request.method)") else { throw .cancelled }
    let response = try await app.direct.send(
      request, body: body, destination: destination, timeouts: timeouts, events: events)
    guard await app.take("\(request.method) answered") else { throw .cancelled }
    return response
  }
}

/// What the app lets the daemon send.
private struct BackgroundDouble: BackgroundTransport {
  let app: AppProcess

  func names() async -> Set<String> {
    for name in app.daemon.names { app.exchanges.add(name) }
    return app.exchanges.names
  }

  func isUnderWay(_ name: String) -> Bool { app.exchanges.isUnderWay(name) }

  func start(_ request: HTTPRequest, sending file: URL, as name: String) throws(TransportError) {
    app.record("start")
    guard !app.isDead else { throw .interrupted("the process has ended") }
    app.exchanges.remove(name)
    app.exchanges.add(name)
    app.daemon.add(request, file, as: name)
    app.record("started")
    app.daemon.start(name)
  }

  func outcome(
    of name: String, progress: (@Sendable (Int64) -> Void)?
  ) async -> Result<TransportResponse, TransportError>? {
    let outcome = await app.exchanges.outcome(of: name, progress: progress)
    if outcome != nil { guard await app.take("outcome") else { return nil } }
    return outcome
  }

  func cancel(_ name: String) {
    guard !app.isDead else { return }
    app.exchanges.remove(name)
    app.daemon.cancel(name)
  }

  func eventsEnd() async { await app.exchanges.eventsEnd() }
}
