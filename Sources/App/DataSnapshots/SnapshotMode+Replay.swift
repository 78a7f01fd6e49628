import Foundation

/// Where a call is replayed from: one snapshot, or what was recorded here.
struct ReplaySource: Sendable {
  let active: ActiveSnapshot?
  let session: ReplaySession
}

extension SnapshotMode {
  /// What replaying gives.
  enum Replayed: Sendable {
    case recorded(Data)
    /// Live data is to pass.
    case live
    /// Live data is to pass only where nothing can be thrown.
    case failed(MissingRecording)
  }

  /// Starts all histories again with their first call, and forgets what was missed.
  public func rewind() { change { $0.session = ReplaySession() } }

  /// What is recorded under `identifier`, or what its policy says. Reads from the disk.
  func replay(_ identifier: String, from source: ReplaySource) -> Replayed {
    let event: Event
    do throws(ReplayProblem) {
      if let active = source.active {
        return .recorded(
          try active.data(for: identifier, redactor: recorder.redactor, in: source.session))
      }
      return .recorded(try recorder.data(for: identifier, in: source.session))
    } catch {
      event = error.event(identifier) {
        source.session.nearest(to: identifier) { source.active?.identifiers ?? recorder.identifiers }
      }
    }
    configuration.onEvent(event)
    switch recorder.policies[identifier].missing {
    case .passthrough: return .live
    case .emptyData: return .recorded(Data())
    case .fail(let handler):
      handler(event)
      return .failed(MissingRecording(event: event))
    }
  }
}
