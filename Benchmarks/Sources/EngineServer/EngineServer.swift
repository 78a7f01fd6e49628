import Glibc
import HTTPEngine
import HTTPTLS
import HTTPTypes
import Logging
import SystemIO

/// A server with only `HTTPEngine` and the same work as its peers: a small response from memory, files with ranges, and
/// uploads to files without hashing or synchronizing.
///
/// With `--audited`, the server also does what ``Duties`` describes. With `--on-loop`, it writes uploads on the event
/// loop, which no product may do.
///
///     EngineServer PORT FOLDER [--audited | --on-loop | CERTIFICATE AND KEY]
@main
struct EngineServer {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard (3...4).contains(arguments.count), let port = UInt16(arguments[1]) else {
      print("usage: EngineServer PORT FOLDER [--audited | --on-loop | CERTIFICATE AND KEY]")
      exit(64)
    }
    ProcessSignals.ignoreBrokenPipeAndFileSizeLimit()
    let folder = arguments[2]
    let small = HTTPServerResponse(
      status: .ok, headerFields: [.contentType: "application/octet-stream"],
      body: .bytes([UInt8](repeating: UInt8(ascii: "x"), count: 1024)))
    let option = arguments.count == 4 ? arguments[3] : nil
    let disk = Disk(folder: folder, usesLoop: option == "--on-loop")
    let duties = option == "--audited" ? try Duties(in: folder) : nil
    let router = Router([
      Route(.get, "/small") { _ in
        try duties?.perform()
        return small
      },
      Route(.get, "/files/{name}") { routed in
        try duties?.perform()
        let path = disk.path(of: try routed.value(of: name))
        if let file = disk.open(cached: path) { return try response(to: routed.request, file) }
        return try response(to: routed.request, try await disk.open(path))
      },
      Route(.put, "/uploads/{name}") { routed in
        try await disk.receive(routed.request.body, as: try routed.value(of: name))
        return HTTPServerResponse(status: .created)
      },
    ])
    var configuration = HTTPServer.Configuration(port: port)
    configuration.eventLoops = 1
    if let option, !option.hasPrefix("--") {
      let files = TLSFiles(certificate: option, key: option)
      configuration.security = try TLSServer(TLSConfiguration(files: [files]))
    }
    let quiet = Logger(label: "engine") { _ in SwiftLogNoOpLogHandler() }
    let server = HTTPServer(configuration: configuration, handler: router, logger: quiet)
    _ = try await server.start()
    FreedMemory.keep(upTo: 512 << 10)
    try await server.run()
  }

  private static func response(
    to request: HTTPServerRequest, _ file: (file: File, size: Int64)
  ) throws -> HTTPServerResponse {
    try Representation(.file(file.file, size: file.size), contentType: "application/octet-stream")
      .response(to: request)
  }

  private static let name = PathParameter("name") { $0 }
}
