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
  func replay(
    _ identifier: String, from source: ReplaySource
  ) throws(SnapshotMode.MissingRecording) -> ReplayedCall? {
    let event: SnapshotMode.Event
    do {
      if let active = source.active {
        return try active.call(of: identifier, redactor: redactor, in: source.session)
      }
      return try recorder.call(of: identifier, in: source.session)
    } catch {
      event = error.event(identifier) {
        source.session.nearest(to: identifier) { source.active?.identifiers ?? recorder.identifiers }
      }
    }
    configuration.onEvent(event)
    switch policies[identifier].missing {
    case .passthrough: return nil
    case .emptyData: return ReplayedCall(data: Data(), exchange: nil)
    case .fail(let handler):
      handler(event)
      throw SnapshotMode.MissingRecording(event: event)
    }
  }
}
