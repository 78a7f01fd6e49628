import Foundation
import HTTPArchive
package import SystemIO
import ZipArchive

/// A file with an HTTP archive, and the bodies that are in files beside it: in its folder, or in the ZIP that contains
/// both.
package struct ArchiveFile {
  private enum Form {
    case plain(File, folder: String?)
    case zipped(ZipReader, ZipEntry)
  }

  /// The name, as the user gave it.
  package let name: String
  private let form: Form

  /// An archive, or a ZIP that contains one.
  /// - Parameters:
  ///   - name: the name of the file in messages.
  ///   - folder: the folder with the bodies beside an archive; with `nil`, those are missing.
  package init(_ file: File, named name: String, folder: String? = nil) throws(ArchiveImportError) {
    self.name = name
    do {
      if try file.read(upTo: 2, at: 0) == Array("PK".utf8) {
        form = try Self.zipped(file, name)
      } else {
        form = .plain(file, folder: folder)
      }
    } catch let error as ArchiveImportError {
      throw error
    } catch {
      throw ArchiveImportError("\(name) can't be read: \(error)", error)
    }
  }

  private static func zipped(_ file: File, _ name: String) throws -> Form {
    let zip = try ZipReader(file)
    let archives = zip.entries.filter { !$0.isFolder && $0.name.lowercased().hasSuffix(".har") }
    guard let archive = archives.first, archives.count == 1 else {
      let count = archives.isEmpty ? "no file" : "more than one file"
      throw ArchiveImportError("\(name) contains \(count) whose name ends in .har.")
    }
    return .zipped(zip, archive)
  }

  /// Starts reading the archive. Each call of the returned function returns the next bytes; `nil` at the end.
  func pieces() throws -> () throws -> [UInt8]? {
    switch form {
    case .plain(let file, _):
      var offset: Int64 = 0
      return {
        let piece = try file.read(upTo: 1 << 17, at: offset)
        offset += Int64(piece.count)
        return piece.isEmpty ? nil : piece
      }
    case .zipped(let zip, let entry):
      let contents = try ZipContents(zip.file, entry)
      return { try contents.next() }
    }
  }

  /// The contents of the file beside the archive with this plain name; `nil` if there is none. Follows no link.
  func body(_ name: String, limit: Int) throws -> Data? {
    switch form {
    case .plain(_, let folder):
      guard let folder else { return nil }
      let path = folder + "/" + name
      guard try Folder.kind(of: path) == .file else { return nil }
      let file = try File(path)
      guard try file.isRegular else { return nil }
      guard try file.size <= Int64(limit) else { throw ArchiveOmission.Reason.fileTooLarge }
      return Data(try file.read(upTo: limit, at: 0))
    case .zipped(let zip, let archive):
      let folder = archive.name.lastIndex(of: "/").map { archive.name[...$0] } ?? ""
      guard let entry = zip.entry(named: folder + name), !entry.isFolder else { return nil }
      guard entry.size <= Int64(limit) else { throw ArchiveOmission.Reason.fileTooLarge }
      return Data(try zip.contents(of: entry, upTo: limit))
    }
  }
}
