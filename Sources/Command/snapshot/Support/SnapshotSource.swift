import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import ZipArchive

/// What a person names on the command line: a bundle, a snapshot's folder, an app's container as Xcode saves it, or any
/// other folder.
enum SnapshotSource {
  case bundle(URL)
  case snapshotFolder(URL)
  case appData(URL)
  case plainFolder(URL)

  /// Looks at what stands at `path`.
  init(_ path: String) throws(CommandFailure) {
    // Foundation takes an empty path for the current folder, which nobody means who gives an empty variable.
    guard !path.isEmpty else {
      throw CommandFailure("The file or folder has no name; ‘.’ is the current folder.", status: .refused)
    }
    let url = URL(filePath: path)
    if Folder.isFolder(url.path) {
      if Folder.isRegularFile(url.appending(path: "manifest.json").path) {
        self = .snapshotFolder(url)
      } else {
        self = url.pathExtension == AppData.bundleExtension ? .appData(url) : .plainFolder(url)
      }
    } else if Folder.isRegularFile(url.path) {
      self = .bundle(url)
    } else {
      throw CommandFailure("There is no file or folder at \(path).", status: .refused)
    }
  }

  /// The manifest, once what it describes has been checked: a folder always whole, a bundle to `depth`.
  func manifest(depth: SnapshotBundle.Depth) throws(CommandFailure) -> Manifest {
    do {
      switch self {
      case .bundle(let url): return try SnapshotBundle.validate(zip: url, depth: depth)
      case .snapshotFolder(let url), .appData(let url), .plainFolder(let url):
        return try SnapshotBundle.validate(folder: url)
      }
    } catch {
      throw CommandFailure(error.description, status: .refused)
    }
  }

  /// The bundle as a zip: the one that is there, checked whole, or a new one at `destination`.
  func packed(to destination: URL) throws(CommandFailure) -> (url: URL, manifest: Manifest) {
    switch self {
    case .bundle(let url):
      return (
        url,
        try Self.refusing { () throws(BundleError) in
          try SnapshotBundle.validate(zip: url, depth: .full)
        }
      )
    case .snapshotFolder(let folder):
      return (
        destination,
        try Self.refusing { () throws(BundleError) in
          try SnapshotBundle.pack(folder: folder, to: destination).manifest
        }
      )
    case .appData(let folder):
      do throws(AppDataError) {
        return (destination, try AppData.makeSnapshot(of: folder, to: destination).manifest)
      } catch {
        throw CommandFailure(error)
      }
    case .plainFolder(let folder):
      return (
        destination,
        try Self.refusing { () throws(BundleError) in
          try SnapshotBundle.pack(
            plainFolder: folder, application: .folder(folder), device: .current, to: destination
          ).manifest
        }
      )
    }
  }

  private static func refusing(
    _ body: () throws(BundleError) -> Manifest
  ) throws(CommandFailure) -> Manifest {
    do { return try body() } catch { throw CommandFailure(error.description, status: .refused) }
  }
}

extension Manifest.Application {
  /// Stands for an app where a plain folder becomes a snapshot: the folder's name.
  fileprivate static func folder(_ url: URL) -> Self {
    Self(identifier: url.standardizedFileURL.lastPathComponent, version: "-", build: "-")
  }
}
