import Foundation
import HTTPClient
import HTTPTypes
import SnapshotClient
import SystemIO
import TestSupport

/// The process of the system that sends files in the background. It outlives the processes of an app, one of which is
/// connected at a time.
final class TransferDaemon: Sendable {
  private struct Transfer {
    let request: HTTPRequest
    let file: URL
    var task: Task<Void, Never>?
  }

  private struct State {
    var transfers: [String: Transfer] = [:]
    /// The outcomes that the app did not get yet.
    var pending: [(name: String, outcome: BackgroundExchanges.Outcome)] = []
    var app: BackgroundExchanges?
    var isHeld = false
    var isAppAwake = true
    var idleWaiters: [Signal] = []
    var busyWaiters: [Signal] = []
  }

  private let transport = SnapshotAPIClient.makeDefaultTransport()
  private let state = Lock(State())

  /// The names of the transfers that have not ended.
  var names: Set<String> { state.withLock { Set($0.transfers.keys) } }

  // MARK: - The app's calls

  /// Connects a process of the app, and delivers the outcomes to it that another one did not get.
  func connect(_ app: BackgroundExchanges) {
    state.withLock { state in
      state.app = app
      state.isAppAwake = true
    }
    deliver()
  }

  func add(_ request: HTTPRequest, _ file: URL, as name: String) {
    cancel(name)
    let waiters = state.withLock { state in
      state.transfers[name] = Transfer(request: request, file: file)
      defer { state.busyWaiters = [] }
      return state.busyWaiters
    }
    for waiter in waiters { waiter.fire() }
  }

  func start(_ name: String) { if !state.withLock({ $0.isHeld }) { run(name) } }

  func cancel(_ name: String) {
    state.withLock { state in
      state.pending.removeAll { $0.name == name }
      return state.transfers.removeValue(forKey: name)
    }?.task?.cancel()
    tellIfIdle()
  }

  // MARK: - What happens to the app

  /// Keeps transfers that start from now on under way, until `release`.
  func hold() { state.withLock { $0.isHeld = true } }

  func release() {
    let names = state.withLock { state in
      state.isHeld = false
      return state.transfers.filter { $0.value.task == nil }.keys
    }
    for name in names { run(name) }
  }

  /// Suspends the app, or ends it: it gets no outcomes.
  func suspendApp() { state.withLock { $0.isAppAwake = false } }

  /// Wakes the app, which gets the outcomes.
  func wakeApp() {
    state.withLock { $0.isAppAwake = true }
    deliver()
  }

  /// Tells the app that it has got everything for which it was woken or launched.
  func endEvents() { state.withLock { $0.app }?.endEvents() }

  /// Ends all transfers, as the system does when the user ends the app.
  func cancelAll() {
    for name in names {
      state.withLock { $0.transfers[name]?.task }?.cancel()
      end(name, .failure(.interrupted("the system ended the transfer")))
    }
  }

  /// Waits until all transfers have ended.
  func idle() async {
    let signal = Signal()
    state.withLock { $0.idleWaiters.append(signal) }
    tellIfIdle()
    await signal.wait()
  }

  /// Waits until there is a transfer.
  func busy() async {
    let signal = Signal()
    let isBusy = state.withLock { state in
      if state.transfers.isEmpty { state.busyWaiters.append(signal) }
      return !state.transfers.isEmpty
    }
    if !isBusy { await signal.wait() }
  }

  // MARK: -

  private func run(_ name: String) {
    let transfer = state.withLock { $0.transfers[name] }
    guard let transfer else { return }
    let task = Task { [transport] in
      let outcome: BackgroundExchanges.Outcome
      do throws(TransportError) {
        outcome = .success(
          try await transport.send(
            transfer.request, body: .file(transfer.file), destination: .memory(limit: 1 << 20),
            timeouts: TransportTimeouts(), events: nil))
      } catch {
        outcome = .failure(error)
      }
      if !Task.isCancelled { end(name, outcome) }
    }
    state.withLock { $0.transfers[name]?.task = task }
  }

  private func end(_ name: String, _ outcome: BackgroundExchanges.Outcome) {
    let isKnown = state.withLock { state in
      guard state.transfers.removeValue(forKey: name) != nil else { return false }
      state.pending.append((name, outcome))
      return true
    }
    if isKnown { deliver() }
    tellIfIdle()
  }

  private func deliver() {
    let (app, outcomes) = state.withLock { state in
      guard state.isAppAwake, let app = state.app else {
        return (nil, []) as (BackgroundExchanges?, [(name: String, outcome: BackgroundExchanges.Outcome)])
      }
      defer { state.pending = [] }
      return (app, state.pending)
    }
    for (name, outcome) in outcomes { app?.end(name, outcome) }
  }

  private func tellIfIdle() {
    let waiters = state.withLock { state in
      guard state.transfers.isEmpty else { return [Signal]() }
      defer { state.idleWaiters = [] }
      return state.idleWaiters
    }
    for waiter in waiters { waiter.fire() }
  }
}
