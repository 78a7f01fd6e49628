import AccessControl
import Dispatch
package import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
package import SnapshotService
package import SnapshotStore
import SystemIO
package import ZipArchive

/// The endpoints for single files of a bundle. Clients need not download and unpack the bundle.
package struct FileRoutes: Sendable {
  let service: SnapshotService
  let limits: ServiceLimits

  /// Creates endpoints for the bundles of `service`.
  package init(service: SnapshotService, limits: ServiceLimits) {
    self.service = service
    self.limits = limits
  }

  /// All endpoints.
  package var endpoints: [Endpoint] {
    [
      Endpoint(
        .listFiles, .get, "/v1/snapshots/{id}/files", .read, "Lists the files of a snapshot.",
        detail: "In the bundle's order. Use `next`, or the link in the field `Link`, unchanged.",
        parameters: [
          .id, .ifMatch, .ifNoneMatch,
          .query(
            "limit", "The maximum number of files on the page.",
            ["type": "integer", "minimum": 1, "maximum": 1000, "default": 1000]),
          .query(
            "cursor", "The `next` of the previous page.",
            ["type": "string", "pattern": "^[1-9][0-9]{0,8}$"]),
        ],
        responses: [
          .json(200, "A page.", .schema("FilePage"), fields: ["ETag", "Link"]),
          .notModified,
        ], problems: looking, handler: list),
      Endpoint(
        .fetchFile, .get, "/v1/snapshots/{id}/files/{path...}", .read,
        "Sends one file of a snapshot, or ranges of it.",
        detail: """
          A file that is deflated in the bundle is sent with `Content-Encoding: gzip` if the client accepts it and \
          requests no range. Types that a browser would execute are sent as `application/octet-stream`.
          """,
        parameters: [
          .id,
          Endpoint.Parameter(
            name: "path", place: .path,
            text: """
              The file's path in the bundle. Its slashes separate segments. A recording is also found by its identifier, \
              percent-encoded once, below `recordings/`: `recordings/news%2Ffeed`.
              """,
            schema: ["type": "string", "minLength": 1]),
          .ifMatch, .ifNoneMatch, .range, .ifRange,
          .header("Accept-Encoding", "The accepted codings. The server supports gzip."),
        ],
        responses: [
          Endpoint.Response(
            status: 200, text: "The file.", fields: fileFields + ["Content-Encoding"],
            content: shownTypes.merging(["application/octet-stream": [:]]) { first, _ in first }),
          Endpoint.Response(
            status: 206, text: "The requested ranges.", fields: fileFields + ["Content-Range"],
            content: shownTypes.merging(["application/octet-stream": [:], "multipart/byteranges": [:]]) {
              first, _ in
              first
            }),
          Endpoint.Response(
            status: 304, text: "The content still has the entity tag of If-None-Match.",
            fields: ["Cache-Control", "ETag", "Vary"]),
        ],
        problems: looking + [
          .noSuchFile, .unreadableFile, .onlyCompressed, .rangeNotSatisfiable,
        ], handler: file),
      Endpoint(
        .fetchFolder, .get, "/v1/snapshots/{id}/files.zip", .read,
        "Sends a folder of a snapshot as a ZIP archive, or ranges of it.",
        detail: """
          The archive contains the files below the folder as they are compressed in the bundle. Their names begin with \
          the name of the folder. The same folder always gives the same bytes.
          """,
        parameters: [
          .id,
          .query(
            "folder",
            "The path of the folder in the bundle, such as `app-data/Documents`. By default all files.",
            ["type": "string"]),
          .ifMatch, .ifNoneMatch, .range, .ifRange,
        ],
        responses: [
          Endpoint.Response(
            status: 200, text: "The archive.", fields: folderFields, content: ["application/zip": [:]]),
          Endpoint.Response(
            status: 206, text: "The requested ranges.", fields: folderFields + ["Content-Range"],
            content: ["application/zip": [:], "multipart/byteranges": [:]]),
          .notModified,
        ],
        problems: looking + [
          .badRequest, .noSuchFile, .unreadableFile, .folderTooLarge, .rangeNotSatisfiable,
        ], handler: folder),
    ]
  }

  /// Returns the path of a file.
  static func path(of file: String, in id: SnapshotID) -> String {
    let segments = file.split(separator: "/", omittingEmptySubsequences: false)
    return "\(SnapshotRoutes.path(of: id))/files/"
      + segments.map { PercentCoding.encode(String($0)) }.joined(separator: "/")
  }

  /// Sends one page of a bundle's files.
  private func list(_ call: APIRequest) async throws -> HTTPServerResponse {
    let request = try FileListRequest(call.query(), limits: limits)
    let bundle = try await service.bundle(for: call)
    let (body, next) = try await Self.queues.next.perform { () throws(any Error) in
      let page = try FilePage(bundle, request, below: call.request.basePath)
      return (try JSONBody(page), page.next)
    }
    var fields: HTTPFields = [:]
    if let next {
      fields[.link] = "<\(call.request.path)?limit=\(request.limit)&cursor=\(next)>; rel=\"next\""
    }
    return try body.representation(adding: fields).response(to: call.request)
  }

  /// Sends one file, or ranges of it.
  package func file(_ call: APIRequest) async throws -> HTTPServerResponse {
    let bundle = try await service.bundle(for: call)
    let names = try Self.names(of: call)
    let queue = Self.queues.next
    let entry = try await queue.perform { () throws(any Error) in try Self.entry(named: names, in: bundle) }
    return try await BundledFile(bundle: bundle, entry: entry, limits: limits, queue: queue)
      .representation(for: call.request).response(to: call.request)
  }

  /// Sends a folder as an archive, or ranges of it.
  package func folder(_ call: APIRequest) async throws -> HTTPServerResponse {
    let folder = try call.query().value("folder") ?? ""
    let bundle = try await service.bundle(for: call)
    let archive = try await Self.queues.next.perform { [limits] () throws(any Error) in
      try BundledFolder(folder, of: bundle, limits)
    }
    return try archive.representation.response(to: call.request)
  }

  /// Returns the names that the requested file can have, the most probable first: its path, and below `recordings` the
  /// name of the recording with this identifier, or of a call of it (`feed@2`).
  package static func names(of call: APIRequest) throws(HTTPProblem) -> [String] {
    let segments = call.remainder
    guard !segments.contains(where: \.isEmpty) else { throw HTTPProblem.noSuchFile }
    var names: [String] = []
    // A percent-encoded slash does not separate the names of folders.
    if !segments.contains(where: { $0.utf8.contains(UInt8(ascii: "/")) }) {
      names.append(segments.joined(separator: "/"))
    }
    let folder = "recordings"
    if segments.count > 1, segments[0] == folder {
      let identifier = segments.dropFirst().joined(separator: "/")
      names.append("\(folder)/\(RecordingName(identifier))")
      if let mark = identifier.lastIndex(of: "@"), let number = Int(identifier[mark...].dropFirst()),
        number > 0
      {
        names.append("\(folder)/\(RecordingName(RecordingName(String(identifier[..<mark])), call: number))")
      }
    }
    return names
  }

  /// Returns the entry of the file with the first of `names` that the bundle has. Throws if there is none, or if it
  /// can't be read. Blocks.
  package static func entry(named names: [String], in bundle: StoredBundle) throws -> ZipEntry {
    let found = try reading { () throws(ZipError) in try ZipDirectory(bundle.file).entries(named: Set(names))
    }
    guard let entry = names.lazy.compactMap({ found[$0] }).first, !entry.isFolder else {
      throw HTTPProblem.noSuchFile
    }
    guard entry.isReadable else { throw HTTPProblem.unreadableFile }
    return entry
  }

  /// Runs `body`, and converts its errors to those of a damaged bundle.
  static func reading<Value>(_ body: () throws(ZipError) -> Value) throws(StoreError) -> Value {
    do { return try body() } catch { throw StoreError(reading: error) }
  }

  private static let queues = ServerQueues.shared.longReaders
}

private let looking: [ProblemKind] = [
  .malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .snapshotDamaged, .snapshotSealed,
  .preconditionFailed,
]
private let folderFields = [
  "Accept-Ranges", "Cache-Control", "Content-Disposition", "ETag", "Last-Modified",
]
private let fileFields = [
  "Accept-Ranges", "Cache-Control", "Content-Disposition", "Content-Security-Policy",
  "Cross-Origin-Resource-Policy", "ETag", "Vary",
]
/// The types that are shown, without their parameters.
private var shownTypes: [String: JSONValue] {
  let essences = FileType.mediaTypes.map { String($0.prefix { $0 != ";" }) }
  return Dictionary(essences.map { ($0, [:]) }) { first, _ in first }
}

extension HTTPProblem {
  /// 404: the snapshot exists, but has no such file.
  static var noSuchFile: HTTPProblem {
    HTTPProblem(
      .noSuchFile, detail: "The snapshot has no file with this name. Its files are listed at …/files.")
  }

  /// 404: the snapshot exists, but has no such folder.
  static var noSuchFolder: HTTPProblem {
    HTTPProblem(.noSuchFile, detail: "The snapshot has no files in a folder with this path.")
  }

  /// 422: the folder exceeds a limit.
  static func folderTooLarge(_ limits: ServiceLimits) -> HTTPProblem {
    HTTPProblem(
      .folderTooLarge,
      detail: """
        At most \(limits.archivedFiles) files, with names of \(limits.archivedNameBytes) bytes in total, are packed \
        into one archive. Download a folder in it, or the bundle.
        """)
  }

  /// 422: the file is encrypted, or compressed with an unsupported method.
  static var unreadableFile: HTTPProblem {
    HTTPProblem(
      .unreadableFile,
      detail: "The file is encrypted, or compressed with an unsupported method. Fetch the bundle.")
  }

  /// 406: the file has more than `limit` bytes, and is not inflated by the server.
  static func onlyCompressed(limit: Int64) -> HTTPProblem {
    HTTPProblem(
      .onlyCompressed,
      detail: """
        Files of more than \(limit) bytes are only sent compressed. Send Accept-Encoding: gzip, and request no \
        range.
        """)
  }
}
