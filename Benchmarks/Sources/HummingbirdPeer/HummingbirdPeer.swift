import Foundation
import Hummingbird
import Logging
import NIOCore
import NIOPosix

/// A server with Hummingbird, used as in its documentation.
///
///     HummingbirdPeer PORT FOLDER
@main
struct HummingbirdPeer {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let port = Int(arguments[1]) else {
      print("usage: HummingbirdPeer PORT FOLDER")
      exit(64)
    }
    let folder = arguments[2]
    var logger = Logger(label: "hummingbird")
    logger.logLevel = .critical
    let small = ByteBuffer(repeating: UInt8(ascii: "x"), count: 1024)
    let files = FileIO()
    let router = Router()
    router.add(middleware: FileMiddleware(folder, logger: logger))
    router.get("small") { _, _ in
      Response(
        status: .ok, headers: [.contentType: "application/octet-stream"],
        body: ResponseBody(byteBuffer: small))
    }
    router.put("uploads/:name") { request, context -> HTTPResponse.Status in
      let name = try context.parameters.require("name")
      try await files.writeFile(contents: request.body, path: "\(folder)/uploads/\(name)", context: context)
      return .created
    }
    router.put("durable/:name") { request, context -> HTTPResponse.Status in
      let name = try context.parameters.require("name")
      let upload = try await DurableUpload(folder: "\(folder)/uploads", name: name)
      for try await piece in request.body { try await upload.append(piece) }
      try await upload.finish()
      return .created
    }
    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      // One event loop for the one core that every server gets.
      eventLoopGroupProvider: .shared(MultiThreadedEventLoopGroup(numberOfThreads: 1)), logger: logger)
    try await application.runService()
  }
}
