public import Foundation

/// Runs programs as a person would at a prompt.
public enum Tool {
  /// How a program ended, and what it said.
  public struct Outcome: Sendable {
    /// The exit status; a signal's number for a program that a signal ended.
    public let status: Int32
    /// What it wrote to stdout.
    public let output: Data
    /// What it wrote to stderr, as text.
    public let errors: String
    /// What it wrote to stdout, as text.
    public var text: String { String(decoding: output, as: UTF8.self) }
    /// The lines of stdout.
    public var lines: [String] { text.split(separator: "\n").map(String.init) }
  }

  /// The path of the installed program `name`, or `nil`.
  public static func find(_ name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// The folder that the built products lie in.
  public static var products: URL {
    URL(filePath: ProcessInfo.processInfo.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
  }

  /// Runs `program` (a path, or a name on PATH) to its end.
  /// - Parameters:
  ///   - environment: added to this process's own.
  ///   - input: what it reads on stdin; nothing if `nil`.
  public static func run(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], input: Data? = nil,
    folder: URL? = nil
  ) async throws -> Outcome {
    let scratch = try TemporaryFolder()
    let files = try ["in", "out", "err"].map {
      try scratch.write($0 == "in" ? input ?? Data() : Data(), to: $0)
    }
    let process = try ChildProcess(
      program, arguments, environment: environment, folder: folder,
      input: try FileHandle(forReadingFrom: files[0]), output: try FileHandle(forWritingTo: files[1]),
      errors: try FileHandle(forWritingTo: files[2]))
    return Outcome(
      status: await process.waitForEnd(), output: try Data(contentsOf: files[1]),
      errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
  }
}
