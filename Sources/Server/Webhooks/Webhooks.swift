package import Foundation
package import HTTPClient
package import Logging
package import SnapshotFormat
package import SnapshotStore
package import SystemIO

/// Tells other services of changes of snapshots (Standard Webhooks 1.0.0).
///
/// A change is added to the outbox before it is acknowledged, and sent afterwards, to each endpoint at its own pace: a
/// receiver that does not answer delays neither a client nor another receiver. Each event arrives at least once, under
/// the same id, unless the receiver refuses it for three days. The events of one snapshot arrive in order. Safe to use
/// from any task.
package final class Webhooks: ChangeAnnouncer {
  /// The parts that tests replace.
  package struct Environment: Sendable {
    /// Opens the outbox when it is needed first.
    package var openOutbox: @Sendable () throws -> any WebhookOutbox
    /// Sends the events.
    package var transport: any AddressedTransport
    /// Returns the addresses of a host.
    package var resolve: @Sendable (String) async throws -> [IPAddress] = { host in
      try await ServerQueues.shared.resolvers.next.perform { () throws(HostResolver.Failure) in
        try HostResolver.addresses(of: host)
      }
    }
    /// The time of day.
    package var now: @Sendable () -> Date = { Date() }
    /// Selects the server that sends, if several share the outbox.
    package var lock: any MaintenanceLock = SoleServer()
    /// After how many seconds the outbox is read again, whatever it said before: the clock may have been set, or another
    /// server may have added an event.
    package var longestSleep = 60.0

    /// Creates an environment with the resolver and the clock of the system.
    package init(
      transport: any AddressedTransport, openOutbox: @escaping @Sendable () throws -> any WebhookOutbox
    ) {
      self.transport = transport
      self.openOutbox = openOutbox
    }
  }

  /// Settings with what they name.
  struct Active: Sendable {
    var settings: WebhookSettings
    var outbox: any WebhookOutbox
    var sender: WebhookSender

    var names: [String] { settings.endpoints.map(\.name) }
  }

  let environment: Environment
  private let store: any BundleStore
  let logger: Logger
  /// `nil` while there is no endpoint.
  let active = Lock<Active?>(nil)
  /// The outbox once it was opened.
  private let opened = Lock<(any WebhookOutbox)?>(nil)
  /// One element for each change of the settings.
  private let changes = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  /// Wakes the tasks of the endpoints.
  let wakers = Lock<[String: AsyncStream<Void>.Continuation]>([:])

  /// Creates webhooks without endpoints; ``prepare(_:)`` sets them.
  /// - Parameter store: the snapshots. Decides whether a prepared deletion has happened.
  package init(_ environment: Environment, store: any BundleStore, logger: Logger) {
    self.environment = environment
    self.store = store
    self.logger = logger
  }

  deinit { changes.continuation.finish() }

  // MARK: Settings

  /// Reads what `settings` name, and opens the outbox if there is an endpoint. Changes nothing yet.
  /// - Returns: a function that applies the settings.
  package func prepare(_ settings: WebhookSettings) throws(WebhookError) -> @Sendable () async -> Void {
    guard settings.isEnabled else { return { await self.apply(nil) } }
    guard let path = settings.secretFile else { throw .secretFileMissing }
    let secrets: WebhookSecrets
    do { secrets = try WebhookSecrets(path: path) } catch { throw .secrets(path, error) }
    let outbox: any WebhookOutbox
    if let known = opened.withLock({ $0 }) {
      outbox = known
    } else {
      do { outbox = try environment.openOutbox() } catch let error as WebhookError { throw error } catch {
        throw .outbox("\(error)")
      }
      opened.withLock { $0 = outbox }
    }
    let sender = WebhookSender(
      transport: environment.transport, resolve: environment.resolve,
      rule: DestinationRule(allowedNetworks: settings.allowedNetworks), secrets: secrets)
    let new = Active(settings: settings, outbox: outbox, sender: sender)
    return { await self.apply(new) }
  }

  private func apply(_ new: Active?) async {
    active.withLock { $0 = new }
    if let outbox = opened.withLock({ $0 }) {
      await logging("The events of removed endpoints can't be removed") {
        try await outbox.keepOnly(new?.names ?? [])
      }
    }
    changes.continuation.yield()
  }

  /// Closes the outbox. Events that wait are sent after the next start.
  package func close() async {
    active.withLock { $0 = nil }
    let outbox = opened.withLock { outbox in outbox.take() }
    await logging("The outbox of the webhooks can't be closed") { try await outbox?.close() }
  }

  // MARK: Announcing

  package func attached(_ record: SnapshotRecord) async throws(StoreError) {
    // The outbox forgets an event some time after it was sent.
    let oldest = environment.now().addingTimeInterval(-Double(WebhookLimits.endedSeconds))
    guard record.receivedAt > oldest else { return }
    try await add(.attached, record)
  }

  package func commented(_ record: SnapshotRecord, at index: Int) async throws(StoreError) {
    try await add(.commented, record, comment: index)
  }

  package var announcesExpirations: Bool {
    active.withLock { $0?.settings.events.contains(.expiring) ?? false }
  }

  package func expiring(_ record: SnapshotRecord, at end: Date) async throws(StoreError) {
    try await add(.expiring, record, end: end)
  }

  private func add(
    _ kind: WebhookEvent.Kind, _ record: SnapshotRecord, comment: Int? = nil, end: Date? = nil
  ) async throws(StoreError) {
    guard let active = active.withLock({ $0 }), active.settings.selects(kind, record) else { return }
    let now = environment.now()
    try await changing(active) {
      let event = try WebhookEvent(
        kind, of: record.id, record, comment: comment, end: end, active.settings, at: now)
      return try await active.outbox.add(event, for: active.names, at: now)
    }
  }

  package func willDelete(_ id: SnapshotID, _ record: SnapshotRecord?) async throws(StoreError) {
    guard let active = active.withLock({ $0 }), active.settings.selects(.deleted, record) else { return }
    let now = environment.now()
    try await changing(active) {
      try await active.outbox.hold(
        try WebhookEvent(.deleted, of: id, record, active.settings, at: now), at: now)
      return 0
    }
  }

  package func deleted(_ id: SnapshotID) async throws(StoreError) {
    guard let active = active.withLock({ $0 }) else { return }
    try await changing(active) {
      try await active.outbox.release(
        WebhookEvent.deletionID(id), for: active.names, at: self.environment.now())
    }
  }

  /// Changes the outbox, and wakes the tasks that send. `change` returns the number of dropped events.
  private func changing(
    _ active: Active, _ change: () async throws -> Int
  ) async throws(StoreError) {
    let dropped: Int
    do { dropped = try await change() } catch {
      logger.error("An event can't be stored for the webhooks", metadata: ["error": "\(error)"])
      throw .unavailable("The outbox of the webhooks can't be written.")
    }
    if dropped > 0 {
      logger.error(
        "Too many events wait for a webhook; the oldest are dropped", metadata: ["dropped": "\(dropped)"])
    }
    for waker in wakers.withLock({ Array($0.values) }) { waker.yield() }
  }

  // MARK: Sending

  /// Sends events until the task is cancelled; of servers that share the outbox, one does so at a time.
  package func run() async {
    var settings = changes.stream.makeAsyncIterator()
    while !Task.isCancelled {
      await withTaskGroup(of: Void.self) { group in
        if let endpoints = active.withLock({ $0?.settings.endpoints }) {
          group.addTask { await self.environment.lock.whileHeld { await self.run(endpoints) } }
          group.addTask { await self.maintain() }
        }
        _ = await settings.next()
        group.cancelAll()
      }
    }
  }

  /// Sends events to some endpoints until the task is cancelled.
  private func run(_ endpoints: [WebhookEndpoint]) async {
    await withTaskGroup(of: Void.self) { group in
      for endpoint in endpoints { group.addTask { await self.run(endpoint) } }
    }
  }

  /// Sends events to one endpoint until the task is cancelled.
  private func run(_ endpoint: WebhookEndpoint) async {
    let (stream, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    wakers.withLock { $0[endpoint.name] = waker }
    defer { wakers.withLock { $0[endpoint.name] = nil } }
    var wakes = stream.makeAsyncIterator()
    while !Task.isCancelled {
      let next = await deliver(to: endpoint)
      let pause = min(
        max(next?.timeIntervalSince(environment.now()) ?? .infinity, 0), environment.longestSleep)
      let timer = Task {
        do { try await Task.sleep(for: .seconds(pause)) } catch { return }
        waker.yield()
      }
      _ = await wakes.next()
      timer.cancel()
    }
  }

  /// Regularly looks up prepared deletions, and removes what is not needed, until the task is cancelled.
  private func maintain() async {
    while !Task.isCancelled {
      await settleHeld(olderThan: WebhookLimits.heldSeconds)
      if let outbox = active.withLock({ $0?.outbox }) {
        await logging("Old events of the webhooks can't be removed") {
          try await outbox.prune(at: self.environment.now())
        }
      }
      do { try await Task.sleep(for: .seconds(60)) } catch { return }
    }
  }

  /// Sends all events that are due now, to all endpoints.
  /// - Returns: when the next one is due; `nil` if none waits.
  package func deliverDue() async -> Date? {
    let endpoints = active.withLock { $0?.settings.endpoints ?? [] }
    return await withTaskGroup(of: Date?.self) { group in
      for endpoint in endpoints { group.addTask { await self.deliver(to: endpoint) } }
      return await group.reduce(nil) { earliest, next in [earliest, next].compactMap(\.self).min() }
    }
  }

  /// Sends the events that are due to one endpoint. Returns when the next one is due; `nil` if none waits.
  private func deliver(to endpoint: WebhookEndpoint) async -> Date? {
    do {
      while !Task.isCancelled, let active = active.withLock({ $0 }) {
        let due = try await active.outbox.due(
          for: endpoint.name, at: environment.now(), limit: WebhookLimits.concurrentDeliveries)
        guard !due.isEmpty else { return try await active.outbox.nextDue(for: endpoint.name) }
        try await withThrowingTaskGroup(of: Void.self) { group in
          for delivery in due { group.addTask { try await self.send(delivery, to: endpoint, active) } }
          try await group.waitForAll()
        }
      }
    } catch {
      logger.error("The outbox of the webhooks can't be used", metadata: ["error": "\(error)"])
      return environment.now().addingTimeInterval(environment.longestSleep)
    }
    return nil
  }

  private func send(_ delivery: WebhookDelivery, to endpoint: WebhookEndpoint, _ active: Active) async throws
  {
    let answer = await active.sender.send(delivery, to: endpoint, at: environment.now())
    // A try that was ended by the server says nothing of the receiver.
    if Task.isCancelled, !answer.isAccepted { return }
    let now = environment.now()
    let outcome: WebhookOutcome
    switch answer {
    case .accepted: outcome = .delivered
    case .gone:
      logger.warning(
        "A webhook wants no more events, and is disabled", metadata: ["endpoint": "\(endpoint.name)"])
      outcome = .refused
    case .failed(let reason, let retryAfter):
      let pause = RetrySchedule.pause(after: delivery.tries + 1, retryAfter: retryAfter)
      logger.log(
        level: pause == nil ? .error : .warning,
        pause == nil ? "An event can't be delivered, and is given up" : "An event can't be delivered yet",
        metadata: [
          "endpoint": "\(endpoint.name)", "event": "\(delivery.event)", "try": "\(delivery.tries + 1)",
          "reason": "\(reason)",
        ])
      outcome = .failed(reason, next: pause.map { now.addingTimeInterval(Double($0)) })
    }
    try await active.outbox.record(outcome, of: delivery, to: endpoint.name, at: now)
  }

  /// Looks up the snapshots whose deletion was prepared at least `seconds` ago and not announced. With 0, no deletion may
  /// be about to happen.
  package func settleHeld(olderThan seconds: Int64) async {
    guard let active = active.withLock({ $0 }) else { return }
    let now = environment.now()
    await logging("A prepared event can't be looked up") {
      let held = try await active.outbox.held(since: now.addingTimeInterval(-Double(seconds)))
      for (event, snapshot) in held {
        do {
          _ = try await store.record(snapshot)
          try await active.outbox.discard(event)
        } catch StoreError.deleted {
          _ = try await active.outbox.release(event, for: active.names, at: now)
        } catch StoreError.notFound {
          try await active.outbox.discard(event)
        }
      }
    }
  }

  private func logging(_ problem: Logger.Message, _ work: () async throws -> Void) async {
    do { try await work() } catch {
      logger.error(problem, metadata: ["error": "\(error)"])
    }
  }
}

/// The reason why the settings of webhooks can't be used.
package enum WebhookError: Error, Sendable, CustomStringConvertible {
  /// There are endpoints and no file with secrets.
  case secretFileMissing
  /// The file at this path can't be used.
  case secrets(String, WebhookSecrets.Failure)
  /// The outbox can't be opened. The text is for the log only.
  case outbox(String)

  /// A sentence for people.
  package var description: String {
    switch self {
    case .secretFileMissing:
      "The setting server.webhooks.endpoints needs server.webhooks.secretFile: events are never sent unsigned."
    case .secrets(let path, let failure):
      "The secrets of the webhooks can't be read from \(path): \(failure)."
    case .outbox(let reason): "The outbox of the webhooks can't be opened: \(reason)"
    }
  }
}
