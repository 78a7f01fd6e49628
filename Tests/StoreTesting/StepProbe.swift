package import FileStore
package import Foundation
import SystemIO

/// Records the steps of a store, and makes selected ones fail.
package final class StepProbe: Sendable {
  private struct State {
    var failing: [Step: Int32] = [:]
    var seen: [Step] = []
  }

  private let state = Lock(State())

  package init() {}

  /// The hooks to open a store with.
  package var faults: FaultInjection {
    FaultInjection(failure: { self.meet($0) })
  }

  /// From now on `step` fails with `code`, until ``stopFailing()`` is called.
  package func fail(_ step: Step, with code: POSIXErrorCode = .EIO) {
    state.withLock { $0.failing[step] = code.rawValue }
  }

  package func stopFailing() { state.withLock { $0.failing = [:] } }

  package func stopFailing(_ step: Step) { state.withLock { $0.failing[step] = nil } }

  /// The steps since the last call.
  package func takeSeen() -> [Step] {
    state.withLock { state in
      defer { state.seen = [] }
      return state.seen
    }
  }

  private func meet(_ step: Step) -> SystemError? {
    state.withLock { state in
      state.seen.append(step)
      return state.failing[step].map { SystemError(operation: "\(step)", code: $0) }
    }
  }
}

extension FaultInjection {
  /// Hooks under which every folder seems unchanged.
  package static let unchangedFolders = FaultInjection(stamp: { _ in "unchanged" })
}
