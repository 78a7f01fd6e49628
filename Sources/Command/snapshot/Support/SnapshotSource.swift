import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import ZipArchive

/// A command's argument that refers to data on this machine: a bundle, a snapshot's folder, an app's container as Xcode
/// saves it, any other folder, or any other file.
enum SnapshotSource {
  case bundle(URL)
  case snapshotFolder(URL)
  case appData(URL)
  case plainFolder(URL)
  case plainFile(URL)

  /// Determines the kind of the file or folder at `path`. A file is a bundle if its name ends in `.zip` or it begins
  /// like a ZIP archive.
  init(_ path: String) throws(CommandFailure) {
    // Foundation treats an empty path as the current folder. An empty path is more likely an unset shell variable.
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
      let isBundle = if url.pathExtension.lowercased() == "zip" { true } else { try Self.isArchive(url.path) }
      self = isBundle ? .bundle(url) : .plainFile(url)
    } else {
      throw CommandFailure("There is no file or folder at \(path).", status: .refused)
    }
  }

  /// Validates the snapshot, and returns its manifest. A folder is always validated completely, a bundle to `depth`.
  func manifest(depth: SnapshotBundle.Depth) throws(CommandFailure) -> Manifest {
    do {
      switch self {
      case .bundle(let url): return try SnapshotBundle.validate(zip: url, depth: depth)
      case .snapshotFolder(let url), .appData(let url), .plainFolder(let url):
        return try SnapshotBundle.validate(folder: url)
      case .plainFile(let url): throw Self.notASnapshot(url)
      }
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure("\(error)", status: .refused)
    }
  }

  /// Returns the bundle as a ZIP file: an existing one, or a new one at `destination` with `note` and `fields` in its
  /// manifest. Validates the structure and the manifest of an existing bundle, but not the contents of its files: the
  /// server validates all of them, and inflating them here would take longer than sending them. An existing bundle is
  /// not changed.
  func packed(
    to destination: URL, note: String? = nil, fields: [String: String] = [:]
  ) throws(CommandFailure) -> (url: URL, manifest: Manifest) {
    switch self {
    case .bundle(let url):
      return (
        url,
        try Self.refusing { () throws(BundleError) in
          try SnapshotBundle.validate(zip: url, depth: .structure)
        }
      )
    case .snapshotFolder(let folder):
      return (
        destination,
        try Self.refusing { () throws(BundleError) in
          Self.reportLeftOut(
            note == nil && fields.isEmpty
              ? try SnapshotBundle.pack(folder: folder, to: destination)
              : try SnapshotBundle.pack(folder: folder, note: note, fields: fields, to: destination))
        }
      )
    case .appData(let folder):
      do {
        return (
          destination,
          Self.reportLeftOut(
            try AppData.makeSnapshot(of: folder, note: note, fields: fields, to: destination))
        )
      } catch {
        throw CommandFailure(error)
      }
    case .plainFolder(let folder):
      let manifest = try Self.refusing { () throws(BundleError) in
        try SnapshotBundle.pack(
          plainFolder: folder, application: .named(folder), device: .current, note: note,
          fields: fields, to: destination
        ).manifest
      }
      guard !manifest.recordings.isEmpty else {
        do { try Folder.removeIfPresent(destination.path) } catch {
          throw CommandFailure("\(error)")
        }
        throw CommandFailure(
          "The folder \(folder.relativePath) contains no files to pack.", status: .refused)
      }
      return (destination, manifest)
    case .plainFile(let file):
      let now = Date()
      let source = SnapshotBundle.Source(identifier: file.lastPathComponent, file: file, recordedAt: now)
      let manifest = Manifest(
        id: SnapshotID(), createdAt: now, application: .named(file), device: .current, note: note,
        fields: fields)
      return (
        destination,
        try Self.refusing { () throws(BundleError) in
          try SnapshotBundle.pack([source], describedBy: manifest, to: destination).manifest
        }
      )
    }
  }

  /// Returns the bundle as ``packed(to:note:fields:)`` does. If `seal` says so, it is sealed into `destination`.
  /// - Returns: The file, and the manifest of what is in it.
  func packed(
    to destination: URL, _ words: UserWords, _ seal: SealOptions
  ) throws(CommandFailure) -> (url: URL, manifest: Manifest) {
    guard !seal.isEmpty else {
      return try packed(to: destination, note: words.note, fields: words.fields)
    }
    let scratch = try ScratchFolder()
    let (zip, manifest) = try packed(
      to: scratch.file("bundle.zip"), note: words.note, fields: words.fields)
    try seal.seal(zip, to: destination)
    return withExtendedLifetime(scratch) { (destination, manifest) }
  }

  /// Lists the files whose names the bundle can't contain, and returns its manifest.
  private static func reportLeftOut(_ packed: SnapshotBundle.Packed) -> Manifest {
    for path in packed.leftOut.prefix(100) {
      Console.message("Left out, because a bundle can't contain its name: \(Console.escaped(path))")
    }
    let rest = packed.leftOut.count - 100
    if rest > 0 { Console.message("Left out for the same reason: \(rest) more files and folders") }
    return packed.manifest
  }

  /// The failure for a file that is not a bundle, in a command that reads a snapshot.
  static func notASnapshot(_ file: URL) -> CommandFailure {
    CommandFailure(
      "\(file.relativePath) is not a snapshot bundle; `snapshot pack` creates one from it.", status: .refused)
  }

  /// Whether the file begins with the signature of a ZIP entry or of an empty archive.
  private static func isArchive(_ path: String) throws(CommandFailure) -> Bool {
    do {
      let signature = try File(path).read(upTo: 4, at: 0)
      return signature == [0x50, 0x4B, 3, 4] || signature == [0x50, 0x4B, 5, 6]
    } catch {
      throw CommandFailure("\(error)")
    }
  }

  private static func refusing(
    _ body: () throws(BundleError) -> Manifest
  ) throws(CommandFailure) -> Manifest {
    do { return try body() } catch { throw CommandFailure(error.description, status: .refused) }
  }
}

extension Manifest.Application {
  /// The application of a snapshot of a plain folder or file. Its identifier is the file name.
  fileprivate static func named(_ url: URL) -> Self {
    Self(identifier: url.standardizedFileURL.lastPathComponent, version: "-", build: "-")
  }
}
