import HTTPEngine
import Observability
import SnapshotFormat
import SnapshotStore
import ZipArchive

/// The parameters of a request for a list of files.
struct FileListRequest: Sendable {
  /// The maximum number of entries on the page.
  let limit: Int
  /// The index of the first entry of the page.
  let start: Int

  /// Parses the parameters. Throws if there is an unknown one.
  init(_ parameters: QueryParameters, limits: ServiceLimits) throws(HTTPProblem) {
    for (name, _) in parameters.pairs where !["limit", "cursor"].contains(name) {
      throw .badRequest("‘\(name.prefix(100))’ is not a parameter. The parameters are limit and cursor.")
    }
    var limit = limits.pageLength
    if let text = try parameters.value("limit") {
      guard let number = Int(text), (1...limits.pageLength).contains(number) else {
        throw .badRequest("‘limit’ must be a number from 1 to \(limits.pageLength).")
      }
      limit = number
    }
    var start = 0
    if let text = try parameters.value("cursor") {
      guard let number = Int(text), number > 0, text == "\(number)" else {
        throw .badRequest(
          "‘cursor’ is not valid. Use the link to the next page unchanged.")
      }
      start = number
    }
    self.limit = limit
    self.start = start
  }
}

/// A page of a bundle's files in the bundle's order, and the cursor of the next page.
struct FilePage: Encodable {
  /// A file.
  struct File: Encodable {
    /// The path in the bundle.
    let path: String
    /// The path on this server.
    let href: String
    /// Its length in bytes.
    let size: Int64
    /// The length in the bundle, in bytes.
    let compressedSize: Int64
    /// The media type with which the file is sent.
    let type: String
  }

  let files: [File]
  let next: String?

  /// Reads the page from `bundle`. Blocks.
  /// - Parameter basePath: the path below which the client sees the server.
  init(
    _ bundle: StoredBundle, _ request: FileListRequest, below basePath: String
  ) throws(StoreError) {
    let (entries, count) = try FileRoutes.reading { () throws(ZipError) in
      let directory = try ZipDirectory(bundle.file)
      return (try directory.entries(from: request.start, limit: request.limit), directory.count)
    }
    files = entries.filter { !$0.isFolder }.map { entry in
      File(
        path: entry.name, href: basePath + FileRoutes.path(of: entry.name, in: bundle.record.id),
        size: entry.size,
        compressedSize: entry.compressedSize, type: FileType(path: entry.name).mediaType)
    }
    let end = request.start + entries.count
    next = entries.isEmpty || end >= count ? nil : "\(end)"
  }
}
