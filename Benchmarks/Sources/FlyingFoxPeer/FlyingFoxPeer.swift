import FlyingFox
import FlyingSocks
import Foundation

/// A server with FlyingFox, used as in its documentation.
///
///     FlyingFoxPeer PORT FOLDER
@main
struct FlyingFoxPeer {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let port = UInt16(arguments[1]) else {
      print("usage: FlyingFoxPeer PORT FOLDER")
      exit(64)
    }
    let folder = URL(filePath: arguments[2])
    let small = Data(repeating: UInt8(ascii: "x"), count: 1024)
    let server = HTTPServer(
      address: try sockaddr_in.inet(ip4: "127.0.0.1", port: port), logger: quiet(.disabled))
    await server.appendRoute("GET /small") { _ in
      HTTPResponse(statusCode: .ok, headers: [.contentType: "application/octet-stream"], body: small)
    }
    await server.appendRoute("GET /files/:name") { request in
      guard let name = request.routeParameters["name"] else { return HTTPResponse(statusCode: .badRequest) }
      return try await FileHTTPHandler(
        path: folder.appending(path: "files/\(name)"), contentType: "application/octet-stream"
      ).handleRequest(request)
    }
    await server.appendRoute("PUT /uploads/:name") { request in
      guard let name = request.routeParameters["name"] else { return HTTPResponse(statusCode: .badRequest) }
      let path = folder.appending(path: "uploads/\(name)").path
      guard FileManager.default.createFile(atPath: path, contents: nil),
        let file = FileHandle(forWritingAtPath: path)
      else { return HTTPResponse(statusCode: .internalServerError) }
      defer { try? file.close() }
      for try await piece in request.bodySequence { try file.write(contentsOf: piece) }
      return HTTPResponse(statusCode: .created)
    }
    try await server.run()
  }

  private static func quiet(_ logger: some Logging) -> some Logging { logger }
}
