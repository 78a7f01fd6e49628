public import Foundation
import SystemIO
public import ZipArchive

extension SnapshotBundle {
  /// Unpacks the zip into the new folder `folder`. Verifies all sizes, checksums and digests.
  ///
  /// The contents are written to a temporary folder, synchronized, and atomically moved to `folder`, so it is never
  /// incomplete. Throws an error with `SystemError.isAlreadyThere` if `folder` exists. If unpacking fails, all
  /// temporary files are removed.
  public static func unpack(
    zip: URL, into folder: URL, limits: ZipLimits = .default
  ) throws(BundleError) -> Manifest {
    try unpack(zip: zip, into: folder, limits: limits) { path throws(SystemError) in
      guard let volume = try Volume.holding(path) else { return nil }
      return { () throws(SystemError) in try volume.synchronize() }
    }
  }

  /// Synchronizes a whole volume.
  typealias VolumeFlush = () throws(SystemError) -> Void

  /// The number of entries from which synchronizing the whole volume is faster than synchronizing each file, even if
  /// other programs write to the volume.
  static let entriesFlushedTogether = 100

  /// Unpacks as ``unpack(zip:into:limits:)`` does.
  /// - Parameter makeFlush: Called with a folder before the first file in it is written. Returns a function that
  ///   synchronizes the volume with that folder; `nil` if each file must be synchronized.
  static func unpack(
    zip: URL, into folder: URL, limits: ZipLimits = .default,
    flushedBy makeFlush: (String) throws(SystemError) -> VolumeFlush?
  ) throws(BundleError) -> Manifest {
    guard try !BundleError.disk(Folder.exists(folder.path)) else {
      throw .system(SystemError(operation: "mkdir", path: folder.path, code: EEXIST))
    }
    let bundle = try ZippedBundle(zip, limits: limits)
    let manifest = try bundle.manifest()
    let staging = Staging(beside: folder)
    do throws(BundleError) {
      var folders = try FolderSet(staging.path)
      var flush: VolumeFlush?
      if bundle.directory.count >= entriesFlushedTogether {
        flush = try BundleError.disk(makeFlush(staging.path))
      }
      try bundle.forEachEntry { entry throws(BundleError) in
        if entry.isFolder {
          try bundle.read(entry) { _ in }
          try folders.add(String(entry.name.dropLast()))
        } else {
          try folders.add(Folder.parent(of: entry.name))
          let file = try extract(entry, of: bundle, to: staging.path + "/" + entry.name)
          if flush == nil { try BundleError.disk(file.synchronize()) }
        }
      }
      if let flush { try BundleError.disk(flush()) } else { try folders.synchronize() }
      try BundleError.disk(Folder.publish(staging.path, as: folder.path))
      try BundleError.disk(Folder.synchronize(staging.folder))
    } catch {
      staging.remove()
      throw error
    }
    return manifest
  }

  private static func extract(
    _ entry: ZipEntry, of bundle: ZippedBundle, to path: String
  ) throws(BundleError) -> File {
    // Only files of an app's container can be executable.
    let isExecutable = entry.isExecutable && entry.name.hasPrefix(BundleLayout.appData)
    let file = try BundleError.disk(File(path, .create(mode: isExecutable ? 0o700 : 0o600)))
    var offset: Int64 = 0
    try bundle.read(entry) { bytes throws(SystemError) in
      try file.write(bytes, at: offset)
      offset += Int64(bytes.count)
    }
    return file
  }
}

/// The folders of an unpacked bundle.
private struct FolderSet {
  private let root: String
  private var names: Set<String> = ["."]

  init(_ root: String) throws(BundleError) {
    self.root = root
    try BundleError.disk(Folder.create(root))
  }

  /// Creates a folder below the root and its missing parent folders.
  mutating func add(_ name: String) throws(BundleError) {
    var missing: [String] = []
    var name = name
    while names.insert(name).inserted {
      missing.append(root + "/" + name)
      name = Folder.parent(of: name)
    }
    for path in missing.reversed() {
      try BundleError.disk(Folder.create(path))
    }
  }

  /// Waits until the names in all folders are on stable storage and survive a power failure.
  func synchronize() throws(BundleError) {
    for name in names {
      try BundleError.disk(Folder.synchronize(root + "/" + name))
    }
  }
}
