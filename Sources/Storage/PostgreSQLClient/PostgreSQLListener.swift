import Dispatch
import SystemIO

/// A notification by `NOTIFY`.
package struct PostgreSQLNotification: Sendable, Hashable {
  /// The name of the channel.
  package var channel: String
  /// The text that was sent, possibly empty.
  package var payload: String

  /// Creates a notification.
  package init(channel: String, payload: String) { (self.channel, self.payload) = (channel, payload) }
}

/// Receives the notifications of a channel, on a connection of its own that is opened again after it was lost.
package final class PostgreSQLListener: Sendable {
  /// What a listener reports.
  package enum Event: Sendable, Hashable {
    /// The listener is connected. Notifications sent before are possibly lost.
    case connected
    /// A notification arrived.
    case notification(PostgreSQLNotification)
    /// The connection was lost or cannot be made, for this reason.
    case disconnected(PostgreSQLError)
  }

  /// The events, of which the newest 1,024 are kept for a slow reader.
  package let events: AsyncStream<Event>

  private let state: Lock<Listening?>

  /// Starts to listen.
  /// - Parameters:
  ///   - channel: a name of letters, digits and underscores.
  ///   - probe: the interval at which the connection is checked.
  package init(
    _ configuration: PostgreSQLConfiguration, channel: String, probe: Duration = .seconds(15)
  ) {
    let (stream, continuation) = AsyncStream.makeStream(
      of: Event.self, bufferingPolicy: .bufferingNewest(1024))
    events = stream
    let listening = Listening(configuration, channel: channel, probe: probe) { continuation.yield($0) }
    state = Lock(listening)
    continuation.onTermination = { _ in listening.stop() }
    listening.start()
  }

  deinit { stop() }

  /// Ends the connection. No event follows.
  package func stop() { state.withLock { $0.take() }?.stop() }
}

/// The connection of a listener.
///
/// - Invariant: its variables are accessed only on `queue`. This makes `@unchecked Sendable` correct.
private final class Listening: @unchecked Sendable {
  private let configuration: PostgreSQLConfiguration
  private let channel: String
  private let probe: Duration
  private let report: @Sendable (PostgreSQLListener.Event) -> Void
  private let queue = DispatchQueue(label: "postgresql.listener")
  private let pauses: ConnectionPauses
  private var connection: PostgreSQLConnection?
  private var source: (any DispatchSourceRead)?
  /// The number of connections that were made.
  private var attempts = 0
  private var isStopped = false

  init(
    _ configuration: PostgreSQLConfiguration, channel: String, probe: Duration,
    report: @escaping @Sendable (PostgreSQLListener.Event) -> Void
  ) {
    self.configuration = configuration
    self.channel = channel
    self.probe = probe
    self.report = report
    pauses = ConnectionPauses(configuration.pause)
  }

  func start() { queue.async { self.connect() } }

  func stop() {
    queue.async { [self] in
      isStopped = true
      disconnect()
    }
  }

  private func connect() {
    guard !isStopped else { return }
    do {
      let connection = try pauses.connect(configuration)
      try connection.execute("LISTEN \"\(channel)\"")
      self.connection = connection
      let source = DispatchSource.makeReadSource(fileDescriptor: connection.descriptor, queue: queue)
      source.setEventHandler { [weak self] in self?.receive() }
      self.source = source
      source.activate()
      report(.connected)
      attempts += 1
      scheduleProbe(of: attempts)
    } catch {
      lose(error)
    }
  }

  private func receive() {
    guard let connection else { return }
    do {
      for notification in try connection.takeNotifications() { report(.notification(notification)) }
    } catch {
      lose(error)
    }
  }

  /// Asks the server from time to time, because a broken network does not always end a connection.
  private func scheduleProbe(of probed: Int) {
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(probe.milliseconds))) { [weak self] in
      guard let self, let connection, attempts == probed else { return }
      do throws(PostgreSQLError) {
        try connection.execute("SELECT 1")
      } catch {
        return lose(error)
      }
      receive()
      scheduleProbe(of: probed)
    }
  }

  private func lose(_ error: PostgreSQLError) {
    disconnect()
    guard !isStopped else { return }
    report(.disconnected(error))
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(pauses.remaining.milliseconds) + 1)) {
      [weak self] in
      self?.connect()
    }
  }

  private func disconnect() {
    guard let source = source.take() else { return }
    // The descriptor is closed after the source has ended.
    let connection = connection.take()
    source.setCancelHandler { withExtendedLifetime(connection) {} }
    source.cancel()
  }
}

extension PostgreSQLConnection {
  /// Sends a notification when the transaction commits, or immediately outside a transaction.
  package func notify(_ channel: String, _ payload: String = "") throws(PostgreSQLError) {
    guard payload.utf8.count <= PostgreSQLLimits.payloadBytes else {
      throw .unexpectedResult("A notification has \(payload.utf8.count) bytes.")
    }
    _ = try query("SELECT pg_notify($1, $2)", [.text(channel), .text(payload)])
  }
}
