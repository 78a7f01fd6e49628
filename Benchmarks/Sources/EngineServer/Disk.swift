import Dispatch
import HTTPEngine
import Synchronization
import SystemIO

/// Reads and writes files on a few serial queues, so that the event loop never waits for the disk.
final class Disk: Sendable {
  private let folder: String
  private let queues = (0..<4).map { DispatchQueue(label: "disk-\($0)") }
  private let turn = Atomic(0)
  private let files = OpenFiles()

  init(folder: String) { self.folder = folder }

  func path(of name: String) -> String { "\(folder)/files/\(name)" }

  /// `nil` where opening it might have to wait.
  func open(cached path: String) -> (file: File, size: Int64)? { files.file(cached: path) }

  func open(_ path: String) async throws -> (file: File, size: Int64) {
    try await perform(on: next) {
      let file = try File(path)
      return (file, try file.size)
    }
  }

  func receive(_ body: HTTPRequestBody, as name: String) async throws {
    let queue = next
    var file: File?
    var offset: Int64 = 0
    for try await piece in body {
      let (opened, place) = (file, offset)
      // The file is made together with its first write: one way to the queue and back less.
      file = try await perform(on: queue) { [folder] in
        let file = try opened ?? File("\(folder)/uploads/\(name)", .create(mode: 0o600))
        try piece.withUnsafeBytes { bytes throws(SystemError) in try file.write(bytes, at: place) }
        return file
      }
      offset += Int64(piece.count)
    }
  }

  private var next: DispatchQueue {
    queues[turn.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max % queues.count]
  }

  private func perform<Value: Sendable>(
    on queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: work)) }
    }
  }
}
