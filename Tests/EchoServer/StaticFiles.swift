import Dispatch
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SystemIO

/// The files below one folder. Names are walked one by one from the open folder, and links are never followed, so
/// that no path leads out of it.
struct StaticFiles: Sendable {
  private let root: OpenFolder
  /// The disk may make one wait, which the event loops must not.
  private let queue = DispatchQueue(label: "static-files")

  init(root: String) throws(SystemError) { self.root = try OpenFolder(root) }

  func response(to request: RoutedRequest) async throws -> HTTPServerResponse {
    let names = request.remainder
    let representation = try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.representation(of: names) }) }
    }
    guard let representation else { throw HTTPProblem.noSuchPath() }
    return try representation.response(to: request.request)
  }

  private func representation(of names: [String]) throws(SystemError) -> Representation? {
    guard let name = names.last else { return nil }
    do throws(SystemError) {
      var folder = root
      for name in names.dropLast() { folder = try folder.folder(name) }
      let file = try folder.file(name)
      guard try file.isRegular else { return nil }
      let (size, modified) = (try file.size, try file.modifiedNanoseconds)
      return Representation(
        .file(file, size: size), contentType: Self.contentType(of: name),
        entityTag: .strong(String(modified, radix: 16) + "-" + String(size, radix: 16)),
        lastModified: HTTPDate(secondsSince1970: modified / 1_000_000_000),
        headerFields: [.xContentTypeOptions: "nosniff"])
    } catch {
      if error.isOutOfDescriptors { throw error }
      // Missing, a link, no folder, not to be read: whoever asks learns no difference.
      return nil
    }
  }

  private static func contentType(of name: String) -> String {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "txt": "text/plain; charset=utf-8"
    case "json": "application/json"
    default: "application/octet-stream"
    }
  }
}
