import Foundation
import Redaction

/// The source of a replayed call: the active snapshot, or the app's own recordings if there is none.
struct ReplaySource: Sendable {
  let active: ActiveSnapshot?
  let session: ReplaySession
}

/// Finds the recording of a call, or applies the policy if there is none.
struct Replayer: Sendable {
  private let recorder: Recorder
  private let configuration: SnapshotMode.Configuration
  private let policies: Policies
  private let redactor: Redactor

  init(
    _ recorder: Recorder, _ configuration: SnapshotMode.Configuration, _ policies: Policies,
    _ redactor: Redactor
  ) {
    self.recorder = recorder
    self.configuration = configuration
    self.policies = policies
    self.redactor = redactor
  }

  /// Returns the recording of `identifier`, or applies its policy: returns empty data, throws, or returns `nil` if live
  /// data passes. Reads from the disk, and sends an event if there is no usable recording.
  /// - Parameter requestBody: the body of the request, if `identifier` is that of an exchange.
  func replay(
    _ identifier: String, from source: ReplaySource, requestBody: Data? = nil
  ) throws(SnapshotMode.MissingRecording) -> ReplayedCall? {
    var event: SnapshotMode.Event
    let policy = policies[identifier]
    var isExhausted = false
    do {
      let call =
        if let active = source.active {
          try active.call(of: identifier, redactor: redactor, in: source.session, policy.afterLast)
        } else {
          try recorder.call(of: identifier, in: source.session, policy.afterLast)
        }
      source.session.advance(to: call.time)
      return call
    } catch {
      if case .exhausted = error {
        if policy.afterLast == .live { return nil }
        isExhausted = true
        source.session.miss(identifier)
      }
      event = error.event(identifier) {
        source.session.nearest(to: identifier) { source.active?.identifiers ?? recorder.identifiers }
      }
    }
    event.requestBody = requestBody.flatMap { redacted($0, of: identifier) }
    configuration.onEvent(event)
    switch policy.missing {
    case .passthrough where !isExhausted: return nil
    case .emptyData where !isExhausted:
      return ReplayedCall(data: Data(), exchange: nil, time: .distantPast)
    case .fail(let handler): handler(event)
    default: break
    }
    throw SnapshotMode.MissingRecording(event: event)
  }

  /// The body of a request without recording, redacted as recorded ones are; `nil` if it is large or can't be redacted.
  private func redacted(_ body: Data, of identifier: String) -> Data? {
    guard body.count <= SnapshotMode.Event.requestBodyLimit else { return nil }
    do { return try redactor.redact(body, as: identifier) } catch { return nil }
  }
}
