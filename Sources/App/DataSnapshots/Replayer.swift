import Foundation
import Redaction

/// The source of a replayed call: the active snapshot, or the app's own recordings if there is none.
struct ReplaySource: Sendable {
  let active: ActiveSnapshot?
  let session: ReplaySession
}

/// Finds the recording of a call, or applies the policy if there is none.
struct Replayer: Sendable {
  enum Answer<Recorded: Sendable>: Sendable {
    case recorded(Recorded)
    /// The live data passes.
    case live
    /// The caller throws the error, or lets live data pass if it can't throw.
    case failed(SnapshotMode.MissingRecording)
  }

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

  /// Returns the recording of `identifier`, or the answer of its policy. Reads from the disk, and sends an event if
  /// there is no usable recording.
  func replay(_ identifier: String, from source: ReplaySource) -> Answer<Data> {
    switch replayCall(identifier, from: source) {
    case .recorded(let call): .recorded(call.data)
    case .live: .live
    case .failed(let error): .failed(error)
    }
  }

  /// ``replay(_:from:)`` with the exchange, if the recording has one.
  func replayCall(_ identifier: String, from source: ReplaySource) -> Answer<ReplayedCall> {
    let event: SnapshotMode.Event
    do throws(ReplayProblem) {
      if let active = source.active {
        return .recorded(try active.call(of: identifier, redactor: redactor, in: source.session))
      }
      return .recorded(try recorder.call(of: identifier, in: source.session))
    } catch {
      event = error.event(identifier) {
        source.session.nearest(to: identifier) { source.active?.identifiers ?? recorder.identifiers }
      }
    }
    configuration.onEvent(event)
    switch policies[identifier].missing {
    case .passthrough: return .live
    case .emptyData: return .recorded(ReplayedCall(data: Data(), exchange: nil))
    case .fail(let handler):
      handler(event)
      return .failed(SnapshotMode.MissingRecording(event: event))
    }
  }
}
