import Dispatch

/// Does what waits for the disk, in order, away from the threads that tasks and event loops run on.
struct DiskWork: Sendable {
  private let queue = DispatchQueue(label: "beta-settings.disk", qos: .utility)

  func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try work() }) }
    }
  }
}
