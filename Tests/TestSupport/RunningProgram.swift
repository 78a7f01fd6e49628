public import Foundation
import Synchronization

/// A program that goes on while a test does, such as a server; killed at the latest with the last reference.
///
/// - Invariant: `process` is started before the object is handed out, and only asked for its identifier, waited
///   for and signalled afterwards, which Foundation does under its own lock.
public final class RunningProgram: @unchecked Sendable {
  /// The first line that it wrote to stdout.
  public let firstLine: String
  /// The process's identifier.
  public var identifier: Int32 { process.processIdentifier }

  private let process: Process
  private let ended: Ended
  private let scratch: TemporaryFolder

  /// What is waited for: the end, which comes once.
  private final class Ended: Sendable {
    let state = Mutex<(status: Int32?, waiting: [CheckedContinuation<Int32, Never>])>((nil, []))

    func set(_ status: Int32) {
      let waiting = state.withLock { state in
        state.status = status
        defer { state.waiting = [] }
        return state.waiting
      }
      for continuation in waiting { continuation.resume(returning: status) }
    }
  }

  /// Starts `program` and waits for its first line on stdout; throws if it ends without one.
  public init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], folder: URL? = nil
  ) async throws {
    scratch = try TemporaryFolder()
    let errors = try scratch.write(Data(), to: "err")
    let process = try Tool.make(program, arguments, environment, folder)
    let pipe = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = pipe
    process.standardError = try FileHandle(forWritingTo: errors)
    let ended = Ended()
    process.terminationHandler = { ended.set($0.terminationStatus) }
    try process.run()
    let output = pipe.fileHandleForReading
    let line: String? = await withCheckedContinuation { continuation in
      // What comes after the first line is read too, so that the program is never held up. Dispatch has not threads
      // enough for the tests' programs beside their servers' event loops.
      Thread {
        var bytes = Data()
        var isFirst = true
        while true {
          let more = output.availableData
          if isFirst {
            bytes += more
            let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
            if end != nil || more.isEmpty {
              continuation.resume(returning: end.map { String(decoding: bytes[..<$0], as: UTF8.self) })
              isFirst = false
            }
          }
          if more.isEmpty { return }
        }
      }.start()
    }
    self.process = process
    self.ended = ended
    guard let line else {
      throw Failure(errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
    }
    firstLine = line
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  /// The program ended before it wrote a line.
  public struct Failure: Error {
    /// What it wrote to stderr.
    public let errors: String
  }

  /// Sends `signal` and waits for the end.
  /// - Returns: the exit status.
  @discardableResult
  public func stop(_ signal: Int32 = SIGTERM) async -> Int32 {
    kill(identifier, signal)
    return await end()
  }

  /// Waits for the end.
  public func end() async -> Int32 {
    await withCheckedContinuation { continuation in
      let status = ended.state.withLock { state in
        if state.status == nil { state.waiting.append(continuation) }
        return state.status
      }
      if let status { continuation.resume(returning: status) }
    }
  }

  /// What it has written to stderr so far.
  public var errors: String {
    get throws { String(decoding: try Data(contentsOf: scratch.file("err")), as: UTF8.self) }
  }
}
