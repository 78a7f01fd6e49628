public import Foundation

/// Runs programs like a user at a shell prompt.
public enum Tool {
  /// The result of a program.
  public struct Outcome: Sendable {
    /// The exit status, or the number of the signal that ended the program.
    public let status: Int32
    /// The output to stdout.
    public let output: Data
    /// The output to stderr, as text.
    public let errors: String
    /// The output to stdout, as text.
    public var text: String { String(decoding: output, as: UTF8.self) }
    /// The lines of stdout.
    public var lines: [String] { text.split(separator: "\n").map(String.init) }
  }

  /// The path of the installed program `name`; `nil` if there is none.
  public static func find(_ name: String) -> String? {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    return folders.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  /// The folder of the built products.
  public static var products: URL {
    URL(filePath: ProcessInfo.processInfo.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
  }

  /// Runs `program` (a path, or a name in PATH) and waits for its end.
  /// - Parameters:
  ///   - environment: variables that are added to the environment of this process.
  ///   - input: the data for stdin; empty if `nil`.
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
