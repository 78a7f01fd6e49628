import AccessControl
import Dispatch
package import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
package import SnapshotStore
import SystemIO
package import ZipArchive

/// The routes to single files of a bundle, which nobody has to unpack for that.
package struct FileRoutes: Sendable {
  let service: SnapshotService
  let limits: ServiceLimits

  /// Serves files out of the bundles of `service`, within `limits`.
  package init(service: SnapshotService, limits: ServiceLimits) {
    self.service = service
    self.limits = limits
  }

  /// All of them.
  package var endpoints: [Endpoint] {
    [
      Endpoint(
        "listFiles", .get, "/v1/snapshots/{id}/files", .read, "Lists the files of a snapshot.",
        detail: "In the bundle's order. Follow `next`, or the link of the field `Link`, as it is.",
        parameters: [
          .id, .ifMatch, .ifNoneMatch,
          .query(
            "limit", "The most files on the page.",
            ["type": "integer", "minimum": 1, "maximum": 1000, "default": 1000]),
          .query(
            "cursor", "Where to go on: what `next` of the page before said.",
            ["type": "string", "pattern": "^[1-9][0-9]{0,8}$"]),
        ],
        responses: [
          .json(200, "A page.", .schema("FilePage"), fields: ["ETag", "Link"]),
          .notModified,
        ], problems: looking, handler: list),
      Endpoint(
        "fetchFile", .get, "/v1/snapshots/{id}/files/{path...}", .read,
        "Sends one file of a snapshot, or ranges of it.",
        detail: """
          What lies deflated in the bundle comes with `Content-Encoding: gzip` where that is accepted and no range is \
          asked for. What a browser would run is a download of the type `application/octet-stream`.
          """,
        parameters: [
          .id,
          Endpoint.Parameter(
            name: "path", place: .path, text: "Where the file lies in the bundle; its slashes part segments.",
            schema: ["type": "string", "minLength": 1]),
          .ifMatch, .ifNoneMatch, .range, .ifRange,
          .header("Accept-Encoding", "Which codings are taken; gzip is given."),
        ],
        responses: [
          Endpoint.Response(
            status: 200, text: "The file.", fields: fileFields + ["Content-Encoding"],
            content: shownTypes.merging(["application/octet-stream": [:]]) { first, _ in first }),
          Endpoint.Response(
            status: 206, text: "The ranges that were asked for.", fields: fileFields + ["Content-Range"],
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
    ]
  }

  /// Where a file is.
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
      let page = try FilePage(bundle, request)
      return (try JSONBody(page), page.next)
    }
    var representation = body.representation
    if let next {
      representation.headerFields[.link] =
        "<\(call.request.path)?limit=\(request.limit)&cursor=\(next)>; rel=\"next\""
    }
    return try representation.response(to: call.request)
  }

  /// Sends one file, or ranges of it.
  package func file(_ call: APIRequest) async throws -> HTTPServerResponse {
    let bundle = try await service.bundle(for: call)
    let name = try Self.name(of: call)
    let queue = Self.queues.next
    let entry = try await queue.perform { () throws(any Error) in try Self.entry(named: name, in: bundle) }
    return try await BundledFile(bundle: bundle, entry: entry, limits: limits, queue: queue)
      .representation(for: call.request).response(to: call.request)
  }

  /// The name of the file that `call` asks for.
  package static func name(of call: APIRequest) throws(HTTPProblem) -> String {
    // A slash that came encoded parts no names.
    guard !call.remainder.contains(where: { $0.isEmpty || $0.utf8.contains(UInt8(ascii: "/")) }) else {
      throw HTTPProblem.noSuchFile
    }
    return call.remainder.joined(separator: "/")
  }

  /// The entry of the file of that name, which can be read. Blocks.
  package static func entry(named name: String, in bundle: StoredBundle) throws -> ZipEntry {
    let entry = try reading { () throws(ZipError) in try ZipDirectory(bundle.file).entry(named: name) }
    guard let entry, !entry.isFolder else { throw HTTPProblem.noSuchFile }
    guard entry.isReadable else { throw HTTPProblem.unreadableFile }
    return entry
  }

  /// Runs `body`, whose failures say that a bundle is damaged.
  static func reading<Value>(_ body: () throws(ZipError) -> Value) throws(StoreError) -> Value {
    do throws(ZipError) { return try body() } catch { throw StoreError(reading: error) }
  }

  /// For the disk and for inflating, which an event loop has no time for; as many as there are cores to spare.
  private static let queues = QueueSet("snapshot-server.files", count: 2)
}

private let looking: [ProblemKind] = [
  .malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .snapshotDamaged,
  .preconditionFailed,
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
