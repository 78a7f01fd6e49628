import Dispatch
import HTTPEngine
import Synchronization
import SystemIO

/// Reads and writes files on a few serial queues, so that the event loop never waits for the disk, or on the loop, which
/// saves two changes of threads for each piece.
final class Disk: Sendable {
  private static let gatheredSize = 16 << 10

  private let folder: String
  private let usesLoop: Bool
  private let queues = (0..<4).map { DispatchQueue(label: "disk-\($0)") }
  private let turn = Atomic(0)
  private let files = OpenFiles()

  init(folder: String, usesLoop: Bool) {
    self.folder = folder
    self.usesLoop = usesLoop
  }

  func path(of name: String) -> String { "\(folder)/files/\(name)" }

  /// Returns a cached file; `nil` if opening it can block.
  func open(cached path: String) -> (file: File, size: Int64)? { files.file(cached: path) }

  func open(_ path: String) async throws -> (file: File, size: Int64) {
    try await perform(on: next) {
      let file = try File(path)
      return (file, try file.size)
    }
  }

  /// Writes a body to a file. Like `snapshot serve`, and nginx with a larger buffer, it collects the first bytes before
  /// it writes, so that a broken upload creates no file.
  func receive(_ body: HTTPRequestBody, as name: String) async throws {
    let queue = next
    var file: File?
    var offset: Int64 = 0
    var gathered: [UInt8] = []
    for try await piece in body {
      if gathered.count + piece.count <= Self.gatheredSize {
        piece.withUnsafeBytes { gathered.append(contentsOf: $0) }
        continue
      }
      let (opened, place, beginning) = (file, offset, gathered)
      gathered = []
      // The file is created with its first write, which saves a change to the queue and back.
      file = try await perform(on: queue) { [folder] in
        let file = try opened ?? File("\(folder)/uploads/\(name)", .create(mode: 0o600))
        if !beginning.isEmpty { try file.write(beginning, at: place) }
        try piece.withUnsafeBytes { bytes throws(SystemError) in
          try file.write(bytes, at: place + Int64(beginning.count))
        }
        return file
      }
      offset += Int64(beginning.count + piece.count)
    }
    guard file == nil || !gathered.isEmpty else { return }
    let (opened, place, rest) = (file, offset, gathered)
    try await perform(on: queue) { [folder] in
      let file = try opened ?? File("\(folder)/uploads/\(name)", .create(mode: 0o600))
      if !rest.isEmpty { try file.write(rest, at: place) }
    }
  }

  private var next: DispatchQueue {
    queues[turn.wrappingAdd(1, ordering: .relaxed).oldValue & Int.max % queues.count]
  }

  private func perform<Value: Sendable>(
    on queue: DispatchQueue, _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    if usesLoop { return try work() }
    return try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: work)) }
    }
  }
}
