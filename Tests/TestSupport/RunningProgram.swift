public import Foundation

/// A program that runs during a test, such as a server. It is killed when the last reference is released.
public final class RunningProgram: Sendable {
  /// The first line that the program wrote to stdout.
  public let firstLine: String
  /// The process id.
  public var identifier: Int32 { process.identifier }

  private let process: ChildProcess
  private let scratch: TemporaryFolder

  /// Starts `program`, and waits for its first line on stdout. Throws if it ends without one.
  public init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], folder: URL? = nil,
    inherited: [Int32] = []
  ) async throws {
    scratch = try TemporaryFolder()
    let errors = try scratch.write(Data(), to: "err")
    let pipe = Pipe()
    process = try ChildProcess(
      program, arguments, environment: environment, folder: folder,
      output: pipe.fileHandleForWriting, errors: try FileHandle(forWritingTo: errors),
      inherited: inherited)
    try pipe.fileHandleForWriting.close()
    let output = pipe.fileHandleForReading
    let line: String? = await withCheckedContinuation { continuation in
      // Later output is read too, so that the program never blocks. Dispatch has too few threads for the tests'
      // programs besides the event loops of their servers.
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
    guard let line else {
      throw Failure(errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
    }
    firstLine = line
  }

  /// The program ended before it wrote a line.
  public struct Failure: Error {
    /// The output to stderr.
    public let errors: String
  }

  /// Sends `signal`, and waits for the end.
  /// - Returns: the exit status.
  @discardableResult
  public func stop(_ signal: Int32 = SIGTERM) async -> Int32 {
    process.signal(signal)
    return await end()
  }

  /// Sends `signal`, and does not wait.
  public func signal(_ signal: Int32) { process.signal(signal) }

  /// Waits for the end, and returns the exit status.
  public func end() async -> Int32 { await process.waitForEnd() }

  /// The output to stderr so far.
  public var errors: String {
    get throws { String(decoding: try Data(contentsOf: scratch.file("err")), as: UTF8.self) }
  }
}
