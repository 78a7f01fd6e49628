import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// Runs the built command.
enum Product {
  /// Tests/Cluster/end-to-end passes a command that starts several servers.
  static let path =
    ProcessInfo.processInfo.environment["SNAPSHOT_COMMAND"] ?? Tool.products.appending(path: "snapshot").path

  /// Runs `snapshot` with `arguments` and waits for its end.
  static func run(
    _ arguments: [String], environment: [String: String] = [:], folder: URL? = nil
  ) async throws -> Tool.Outcome {
    try await Tool.run(path, arguments, environment: environment, folder: folder)
  }
}

/// A running `snapshot serve` on a free port with a storage of its own.
struct TestServer {
  let program: RunningProgram
  let url: URL

  /// - Parameters:
  ///   - limits: options of `prlimit` for resource limits.
  ///   - disk: the disk on which the storage is, at its place there.
  init(
    storage: URL, _ arguments: [String] = [], environment: [String: String] = [:], limits: [String] = [],
    on disk: SmallDisk? = nil
  ) async throws {
    let command = (disk?.entering ?? []) + (limits.isEmpty ? [] : ["prlimit"] + limits) + [Product.path]
    program = try await RunningProgram(
      command[0], command.dropFirst() + ["serve", "--port", "0", "--storage", storage.path] + arguments,
      environment: environment, folder: disk == nil ? storage.deletingLastPathComponent() : nil)
    let prefix = "Listening on "
    try #require(program.firstLine.hasPrefix(prefix), "\(program.firstLine)")
    url = try #require(URL(string: String(program.firstLine.dropFirst(prefix.count))))
  }

  /// The URL of a path on the server, such as `/v1/snapshots/…`.
  func address(_ path: String) -> String { url.absoluteString + path }
}

/// Creates bundles with the command.
enum Sample {
  /// Creates a bundle of `count` recordings of some hundred bytes each. `seed` determines their bytes.
  static func bundle(in folder: TemporaryFolder, count: Int = 3, seed: Int = 0) async throws -> (
    URL, SnapshotID
  ) {
    for number in 0..<count {
      let text = String(repeating: "{\"seed\":\(seed),\"number\":\(number)}\n", count: 20)
      try folder.write(Data(text.utf8), to: "source-\(seed)/feed/\(number).json")
    }
    let zip = folder.file("bundle-\(seed).zip")
    let outcome = try await Product.run(["pack", folder.file("source-\(seed)").path, "--output", zip.path])
    try #require(outcome.status == 0, "\(outcome.errors)")
    return (zip, try #require(SnapshotID(outcome.lines[0])))
  }
}

/// A request with curl, and the status and body of the response.
struct Curl {
  let status: Int
  let body: Data
  let head: String

  init(_ arguments: [String]) async throws {
    let scratch = try TemporaryFolder()
    let (head, body) = (scratch.file("head"), scratch.file("body"))
    let outcome = try await Tool.run(
      "curl",
      [
        "--silent", "--show-error", "--max-time", "60", "-D", head.path, "-o", body.path, "-w",
        "%{http_code}",
      ]
        + arguments)
    try #require(outcome.status == 0, "curl: \(outcome.errors)")
    status = try #require(Int(outcome.text))
    self.head = try String(contentsOf: head, encoding: .utf8)
    self.body = FileManager.default.fileExists(atPath: body.path) ? try Data(contentsOf: body) : Data()
  }

  /// The value of a field of the last response.
  func field(_ name: String) -> String? {
    head.split(whereSeparator: \.isNewline).last { $0.lowercased().hasPrefix(name.lowercased() + ":") }
      .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
  }

  /// The body as text.
  var text: String { String(decoding: body, as: UTF8.self) }

  /// The body parsed as JSON.
  var json: [String: Any] {
    get throws { try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any]) }
  }
}
