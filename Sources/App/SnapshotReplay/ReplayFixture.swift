import Foundation
import SnapshotFormat
import SystemIO

/// The snapshot that a test replays: a bundle, or a snapshot's folder.
struct ReplayFixture: Sendable {
  /// The folder beside a test's source file, or in a bundle of resources.
  static let folder = "Fixtures"
  /// The endings of the names of a bundle and of a folder.
  static let endings = (bundle: ".snapshot.zip", folder: ".snapshot")
  /// The maximum length of a name in UTF-8 bytes.
  static let nameLimit = 100

  let name: String
  let location: URL

  /// Finds the fixture `name` in the resources of `bundle`, or beside `sourceFile` if there is no bundle.
  init(_ name: String, in bundle: Bundle?, besides sourceFile: String) throws(ReplayError) {
    guard !name.isEmpty, name.utf8.count <= Self.nameLimit, !name.hasPrefix("."), !name.contains("/"),
      !name.utf8.contains(0)
    else {
      throw ReplayError(
        .invalidName,
        "‘\(name.prefix(Self.nameLimit))’ can't be the name of a fixture; a name has 1 to \(Self.nameLimit) bytes and no slash."
      )
    }
    let home = bundle?.resourceURL ?? URL(filePath: sourceFile).deletingLastPathComponent()
    // Xcode copies resources to the top of a bundle.
    let folders = [home.appending(path: Self.folder)] + (bundle == nil ? [] : [home])
    for folder in folders {
      let zip = folder.appending(path: name + Self.endings.bundle)
      let unpacked = folder.appending(path: name + Self.endings.folder)
      if Folder.isRegularFile(zip.path) {
        self.init(name: name, location: zip)
        return
      }
      if Folder.isFolder(unpacked.path) {
        self.init(name: name, location: unpacked)
        return
      }
    }
    throw ReplayError(
      .fixtureMissing,
      """
      There is no fixture \(folders[0].path)/\(name)\(Self.endings.bundle); \
      write it with `snapshot test UUID --into \(home.path) --name \(name)`.
      """)
  }

  private init(name: String, location: URL) {
    self.name = name
    self.location = location
  }

  /// Verifies the whole fixture, and unpacks it into `folder`, which must not exist.
  /// - Returns: the folder with the unpacked snapshot, and the manifest.
  func unpack(into folder: URL) throws(ReplayError) -> (folder: URL, manifest: Manifest) {
    do {
      if Folder.isFolder(location.path) { return (location, try SnapshotBundle.validate(folder: location)) }
      return (folder, try SnapshotBundle.unpack(zip: location, into: folder))
    } catch {
      throw ReplayError(.fixtureRefused, "The fixture \(location.path) can't be replayed: \(error)")
    }
  }
}
