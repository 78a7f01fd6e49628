import Crypto
import Foundation

/// A bundle to upload and download. The peers treat it as an ordinary file.
final class BundleFile {
  let name: String
  let payload: Payload
  let path: String
  /// The `Repr-Digest` field that our client sends to detect corruption.
  let digestField: String
  /// The UUID in `snapshot serve`, after the upload.
  var id = ""

  /// Packs a bundle of JSON, or of noise, which compresses as little as images do.
  init(_ name: String, size: Int, isNoise: Bool, in folder: String, _ tools: Tools) throws {
    self.name = name
    path = "\(folder)/\(name)"
    let source = "\(path)-files"
    try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
    if !isNoise {
      // This amount of text compresses to about `size` bytes.
      let text = JSONText(seed: UInt64(size)).make(size * 37 / 10)
      let pieces = max(1, size / 25_000)
      for index in 0..<pieces {
        let range = text.count * index / pieces..<text.count * (index + 1) / pieces
        try Data(text[range]).write(to: URL(filePath: "\(source)/\(index).json"))
      }
    } else {
      try JSONText(seed: UInt64(size)).makeNoise(size).write(to: URL(filePath: "\(source)/recording"))
    }
    _ = try ChildProcess.run(Launch(tools.snapshot, ["pack", source, "--output", path]), log: "\(path).log")
    try FileManager.default.removeItem(atPath: source)
    payload = try Payload(file: path)
    let digest = Data(SHA256.hash(data: payload.bytes)).base64EncodedString()
    digestField = "Repr-Digest: sha-256=:\(digest):\r\n"
  }

  /// Adds the bundle to the files that the server offers for download.
  ///
  /// The peers share one file. A copy for each could be sent three times faster than another: it depends on how the
  /// system's cache has placed the copy in memory.
  func publish(on server: Server) throws {
    guard server.contestant == .serve else {
      return try FileManager.default.linkItem(atPath: path, toPath: "\(server.folder)/files/\(name)")
    }
    if id.isEmpty { id = UUID().uuidString.lowercased() }
    let exchange = Exchange.put("/v1/reports/BENCH-1/snapshots/\(id)", payload, fields: digestField)
    _ = try LoadGenerator(port: server.port, [Work(1, exchange)]).run(seconds: 0)
  }
}
