import HTTPEngine
import Observability
import SnapshotFormat
import SnapshotStore
import ZipArchive

/// What a request for a list of files asks for.
struct FileListRequest: Sendable {
  /// The most entries of the bundle that the page is about.
  let limit: Int
  /// How many of them were on the pages before.
  let start: Int

  /// Reads the parameters; one that is not known is refused.
  init(_ parameters: QueryParameters, limits: ServiceLimits) throws(HTTPProblem) {
    for (name, _) in parameters.pairs where !["limit", "cursor"].contains(name) {
      throw .badRequest("‘\(name.prefix(100))’ is no parameter here; there are limit, cursor.")
    }
    var limit = limits.pageLength
    if let text = try parameters.value("limit") {
      guard let number = Int(text), (1...limits.pageLength).contains(number) else {
        throw .badRequest("‘limit’ is a number from 1 to \(limits.pageLength).")
      }
      limit = number
    }
    var start = 0
    if let text = try parameters.value("cursor") {
      guard let number = Int(text), number > 0, text == "\(number)" else {
        throw .badRequest(
          "‘cursor’ is not one that this server gave: follow the link to the next page as it is.")
      }
      start = number
    }
    self.limit = limit
    self.start = start
  }
}

/// One page of a bundle's files, in the bundle's order, and the cursor of the next one.
struct FilePage: Encodable {
  /// A file.
  struct File: Encodable {
    /// Where it lies in the bundle.
    let path: String
    /// Where it is on this server.
    let href: String
    /// Its length in bytes.
    let size: Int64
    /// How many bytes it takes in the bundle.
    let compressedSize: Int64
    /// The media type that it is sent with.
    let type: String
  }

  let files: [File]
  let next: String?

  /// Reads the page out of `bundle`. Blocks.
  init(_ bundle: StoredBundle, _ request: FileListRequest) throws(StoreError) {
    let (entries, count) = try FileRoutes.reading { () throws(ZipError) in
      let directory = try ZipDirectory(bundle.file)
      return (try directory.entries(from: request.start, limit: request.limit), directory.count)
    }
    files = entries.filter { !$0.isFolder }.map { entry in
      File(
        path: entry.name, href: FileRoutes.path(of: entry.name, in: bundle.record.id), size: entry.size,
        compressedSize: entry.compressedSize, type: FileType(path: entry.name).mediaType)
    }
    let end = request.start + entries.count
    next = entries.isEmpty || end >= count ? nil : "\(end)"
  }
}
