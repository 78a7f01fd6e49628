import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotStore
import ZipArchive

/// A folder of a bundle that is sent to a client as an archive.
///
/// The data of the files is sent from the bundle's file as it is compressed there. Only the headers are in memory, and
/// their size is limited by ``ServiceLimits/archivedFiles`` and ``ServiceLimits/archivedNameBytes``.
struct BundledFolder: Sendable {
  private let bundle: StoredBundle
  private let folder: String
  private let archive: ZipExcerpt

  /// Lays out the archive. Throws if the folder has no files, or exceeds a limit. Blocks.
  /// - Parameter folder: the path of the folder in the bundle, with or without a slash at its end. If it is empty, the
  ///   archive contains all files of the bundle.
  init(_ folder: String, of bundle: StoredBundle, _ limits: ServiceLimits) throws {
    let path = folder.utf8.last == UInt8(ascii: "/") ? String(folder.dropLast()) : folder
    let prefix = path.isEmpty ? [] : Array(path.utf8) + [UInt8(ascii: "/")]
    // The name of the folder itself remains in the names of the entries.
    let parent = path.utf8.lastIndex(of: UInt8(ascii: "/")).map {
      path.utf8.distance(from: path.startIndex, to: $0) + 1
    }
    var archive = ZipExcerpt()
    var (files, nameBytes) = (0, 0)
    var hasUnreadable = false
    try FileRoutes.reading { () throws(ZipError) in
      let directory = try ZipDirectory(bundle.file)
      let isASCII = prefix.allSatisfy { $0 < 0x80 }
      var listing =
        isASCII ? directory.listing(under: [String(decoding: prefix, as: UTF8.self)]) : directory.listing
      while files <= limits.archivedFiles, nameBytes <= limits.archivedNameBytes,
        let entry = try listing.nextEntry()
      {
        guard !entry.isFolder, entry.name.utf8.starts(with: prefix) else { continue }
        guard entry.isReadable else {
          hasUnreadable = true
          break
        }
        let name = String(decoding: entry.name.utf8.dropFirst(parent ?? 0), as: UTF8.self)
        try archive.append(entry, as: name)
        files += 1
        nameBytes += name.utf8.count
      }
    }
    guard !hasUnreadable else { throw HTTPProblem.unreadableFile }
    guard files <= limits.archivedFiles, nameBytes <= limits.archivedNameBytes else {
      throw HTTPProblem.folderTooLarge(limits)
    }
    guard files > 0 else { throw HTTPProblem.noSuchFolder }
    archive.finish()
    (self.bundle, self.folder, self.archive) = (bundle, path, archive)
  }

  /// The archive. A bundle never changes, so the same folder always gives the same bytes.
  var representation: Representation {
    let parts = archive.parts.map { part -> HTTPServerResponse.Part in
      switch part {
      case .bytes(let bytes): .bytes(bytes)
      case .source(let offset, let count): .file(bundle.file, offset: offset, count: count)
      }
    }
    let last = folder.split(separator: "/").last.map { "-\($0)" } ?? ""
    let name = "\(bundle.record.id.description.prefix(8))\(last).zip"
    let digest = ContentDigest.of(Array("\(bundle.record.sha256) \(folder)".utf8))
    return Representation(
      .parts(parts), contentType: "application/zip", entityTag: .strong("\(digest)"),
      lastModified: SnapshotRoutes.lastModified(of: bundle.record),
      headerFields: [
        .cacheControl: "private, no-cache",
        .contentDisposition: ContentDisposition.attachment(name).fieldValue,
      ])
  }
}
