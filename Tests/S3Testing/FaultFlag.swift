import SystemIO

extension FakeS3Server {
  /// Lets one request fail, after `count` others.
  /// - Parameter isCounted: whether a request is one of these.
  /// - Returns: whether there was such a request.
  package func fail(
    after count: Int, _ fault: Fault, where isCounted: @escaping @Sendable (Call) -> Bool = { _ in true }
  ) -> FaultFlag {
    let flag = FaultFlag()
    let left = Lock(count)
    inject { call in
      guard isCounted(call) else { return nil }
      return left.withLock { left in
        left -= 1
        guard left == -1 else { return nil }
        flag.raise()
        return fault
      }
    }
    return flag
  }
}

/// Whether a fault happened.
package final class FaultFlag: Sendable {
  private let state = Lock(false)

  package init() {}

  package func raise() { state.withLock { $0 = true } }

  package var isRaised: Bool { state.withLock { $0 } }
}
