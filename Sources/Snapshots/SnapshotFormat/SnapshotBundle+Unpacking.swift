public import Foundation
import SystemIO
public import ZipArchive

extension SnapshotBundle {
  /// Unpacks the zip into the new folder `folder`. Verifies all sizes, checksums and digests.
  ///
  /// The contents are written to a temporary folder, synchronized, and atomically moved to `folder`, so it is never
  /// incomplete. Encoded names (``PortableName``) are decoded where the file system can hold the names themselves. Throws
  /// an error with `SystemError.isAlreadyThere` if `folder` exists, and ``BundleError/sealed(_:)`` if the bundle is sealed. If unpacking fails, all
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
    try bundle.requireClear()
    let manifest = try bundle.manifest()
    let staging = Staging(beside: folder)
    do {
      try BundleError.disk(staging.createFolder())
      var folders = FolderSet(staging.path)
      var flush: VolumeFlush?
      if bundle.directory.count >= entriesFlushedTogether {
        flush = try BundleError.disk(makeFlush(staging.path))
      }
      try bundle.forEachEntry { entry throws(BundleError) in
        if entry.isFolder {
          try bundle.read(entry) { _ in }
          _ = try folders.add(String(entry.name.dropLast()))
        } else {
          let file = try folders.createFile(entry)
          try extract(entry, of: bundle, to: file)
          if flush == nil { try BundleError.disk(file.synchronize()) }
        }
      }
      if let flush { try BundleError.disk(flush()) } else { try folders.synchronize() }
      try BundleError.disk(Folder.publish(staging.path, as: folder.path))
      staging.forget()
      try BundleError.disk(Folder.synchronize(staging.folder))
    } catch {
      staging.remove()
      throw error
    }
    return manifest
  }

  private static func extract(
    _ entry: ZipEntry, of bundle: ZippedBundle, to file: File
  ) throws(BundleError) {
    var offset: Int64 = 0
    try bundle.read(entry) { bytes throws(SystemError) in
      try file.write(bytes, at: offset)
      offset += Int64(bytes.count)
    }
  }
}

/// The folders of an unpacked bundle.
private struct FolderSet {
  private let root: String
  /// The path on the disk of each folder, by its name in the bundle.
  private var paths: [String: String]
  /// Whether names that differ in case or composition are different files here; `nil` if that is not known.
  private var tellsNamesApart: Bool?

  init(_ root: String) {
    self.root = root
    paths = [".": root]
  }

  /// Creates a folder of the bundle and its missing parent folders.
  /// - Returns: Its path on the disk.
  mutating func add(_ name: String) throws(BundleError) -> String {
    if let path = paths[name] { return path }
    let parent = try add(Folder.parent(of: name))
    let path = try create(name, in: parent) { path throws(SystemError) in
      try Folder.create(path)
      return path
    }
    paths[name] = path
    return path
  }

  /// Creates the file of an entry, and its missing parent folders.
  mutating func createFile(_ entry: ZipEntry) throws(BundleError) -> File {
    let parent = try add(Folder.parent(of: entry.name))
    // Only files of an app's container can be executable.
    let isExecutable = entry.isExecutable && entry.name.hasPrefix(BundleLayout.appData)
    return try create(entry.name, in: parent) { path throws(SystemError) in
      try File(path, .create(mode: isExecutable ? 0o700 : 0o600))
    }
  }

  /// Creates a file or folder under the name that `name` encodes, or else under the last component of `name`.
  private mutating func create<Value>(
    _ name: String, in parent: String, by create: (String) throws(SystemError) -> Value
  ) throws(BundleError) -> Value {
    let part = name.components.last ?? name
    let isExtra = name.hasPrefix(BundleLayout.attachments) || name.hasPrefix(BundleLayout.appData)
    // A name that looks encoded itself remains encoded, so that the folder has one meaning.
    if isExtra, let original = PortableName.decode(part), PortableName.decode(original) == nil,
      try mayHold(original, insteadOf: part)
    {
      do { return try create(parent + "/" + original) } catch {
        // The file system can't hold the name. Under the encoded one, any other error occurs again.
      }
    }
    return try BundleError.disk(create(parent + "/" + part))
  }

  /// Whether the file system distinguishes the name from all others of its folder.
  private mutating func mayHold(_ original: String, insteadOf part: String) throws(BundleError) -> Bool {
    // The name was encoded alone, for a character in it.
    if PortableName.encode(siblings: [original]) == [part] { return true }
    if let tellsNamesApart { return tellsNamesApart }
    let (name, others) = ("\u{E9}a", ["\u{C9}A", "e\u{301}a"])
    try BundleError.disk(Folder.create(root + "/" + name))
    var isThere = false
    for other in others where !isThere { isThere = try BundleError.disk(Folder.exists(root + "/" + other)) }
    try BundleError.disk(Folder.remove(root + "/" + name))
    tellsNamesApart = !isThere
    return !isThere
  }

  /// Waits until the names in all folders are on stable storage and survive a power failure.
  func synchronize() throws(BundleError) {
    for path in paths.values { try BundleError.disk(Folder.synchronize(path)) }
  }
}
