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

  /// Lays out the archive. Throws if the folder has no files, or exceeds a limit. Blocks. The folder is also found by a
  /// canonically equivalent path (Unicode NFC and NFD).
  /// - Parameter folder: the path of the folder in the bundle, with or without a slash at its end. If it is empty, the
  ///   archive contains all files of the bundle.
  init(_ folder: String, of bundle: StoredBundle, _ limits: ServiceLimits) throws {
    let path = folder.utf8.last == UInt8(ascii: "/") ? String(folder.dropLast()) : folder
    let wanted = path.isEmpty ? [] : Self.parts(of: path)
    var archive = ZipExcerpt()
    var (files, nameBytes) = (0, 0)
    var hasUnreadable = false
    try FileRoutes.reading { () throws(ZipError) in
      let directory = try ZipDirectory(bundle.file)
      let isASCII = path.utf8.allSatisfy { $0 < 0x80 }
      var listing =
        isASCII && !path.isEmpty ? directory.listing(under: [path + "/"]) : directory.listing
      while files <= limits.archivedFiles, nameBytes <= limits.archivedNameBytes,
        let entry = try listing.nextEntry()
      {
        let parts = Self.parts(of: entry.name)
        guard !entry.isFolder, parts.count > wanted.count, parts.starts(with: wanted) else { continue }
        guard entry.isReadable else {
          hasUnreadable = true
          break
        }
        // The name of the folder itself remains in the names of the entries.
        let name = parts.dropFirst(max(wanted.count - 1, 0)).joined(separator: "/")
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

  /// The components of a path. Bytes are split, because a slash and a following combining mark are one character.
  private static func parts(of path: String) -> [String] {
    path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
      String(Substring($0))
    }
  }

  /// The archive. A bundle never changes, so the same folder always gives the same bytes.
  var representation: Representation {
    let parts = archive.parts.map { part -> HTTPServerResponse.Part in
      switch part {
      case .bytes(let bytes): .bytes(bytes)
      case .source(let offset, let count): .file(bundle.file, offset: offset, count: count)
      }
    }
    let last = PortableName.decode(path: folder).split(separator: "/").last.map { "-\($0)" } ?? ""
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
