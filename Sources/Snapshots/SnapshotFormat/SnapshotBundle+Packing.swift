public import Foundation
import SystemIO
import ZipArchive

extension SnapshotBundle {
  /// A file to be packed as a recording.
  public struct Source: Sendable, Hashable {
    /// The recording's identifier, which can be any text.
    public var identifier: String
    /// The location of the contents.
    public var file: URL
    /// The time of the recording.
    public var recordedAt: Date
    /// The number of the call with this identifier, if a history is kept.
    public var call: Int?
    /// The HTTP exchange whose response has these contents as its body. The request's body is described when the bundle is
    /// packed.
    public var exchange: Manifest.Exchange?
    /// The location of the body of the exchange's request; `nil` if there is none.
    public var requestBody: URL?

    /// Creates a source.
    public init(
      identifier: String, file: URL, recordedAt: Date, call: Int? = nil, exchange: Manifest.Exchange? = nil,
      requestBody: URL? = nil
    ) {
      self.exchange = exchange
      self.requestBody = requestBody
      self.identifier = identifier
      self.file = file
      self.recordedAt = recordedAt
      self.call = call
    }

    /// The name of the recording's file in the bundle.
    var name: RecordingName {
      let name = RecordingName(identifier)
      return call.map { RecordingName(name, call: $0) } ?? name
    }
  }

  /// A file in addition to the recordings, such as a screenshot.
  public struct Attachment: Sendable, Hashable {
    /// The path below `attachments/`. Names that are not safe on every system are encoded (``PortableName``).
    public var name: String
    /// The location of the contents.
    public var file: URL

    /// Creates an attachment.
    public init(name: String, file: URL) {
      self.name = name
      self.file = file
    }
  }

  /// Packs the snapshot folder `folder` into the file `zip`. The same folder always gives the same bytes.
  ///
  /// Verifies every recording against the manifest. The zip is written to a temporary file, synchronized, and
  /// atomically moved to `zip`, where it replaces an existing file. If packing fails, nothing has changed.
  ///
  /// Names in `attachments/` and `app-data/` that are not safe on every system are encoded (``PortableName``).
  public static func pack(folder: URL, to zip: URL) throws(BundleError) -> Packed {
    let bundle = try FolderBundle(folder)
    return try write(bundle, bundle.manifest, json: bundle.json, to: zip)
  }

  private static func write(
    _ bundle: FolderBundle, _ manifest: Manifest, json: [UInt8], to zip: URL
  ) throws(BundleError) -> Packed {
    var packed = try write(
      manifest, json: json, bundle.members, emptyFolders: bundle.emptyFolders, to: zip)
    packed.leftOut = bundle.leftOut
    return packed
  }

  /// Packs the snapshot folder `folder` as ``pack(folder:to:)`` does, with `note`, if it is not `nil`, and `fields` in the
  /// manifest of the bundle. The folder is not changed.
  public static func pack(
    folder: URL, note: String?, fields: [String: String], to zip: URL
  ) throws(BundleError) -> Packed {
    let bundle = try FolderBundle(folder)
    var manifest = bundle.manifest
    manifest.note = note ?? manifest.note
    manifest.fields.merge(fields) { $1 }
    return try write(bundle, manifest, json: Array(manifest.json()), to: zip)
  }

  /// Packs single files, each with its identifier, and writes the bundle to `zip` as ``pack(folder:to:)`` does.
  /// - Parameters:
  ///   - sources: The files of the recordings, in any order.
  ///   - attachments: The files for `attachments/`.
  ///   - manifest: The manifest without recordings; they are added here.
  ///   - zip: The location of the bundle.
  public static func pack(
    _ sources: [Source], attachments: [Attachment] = [], describedBy manifest: Manifest, to zip: URL
  ) throws(BundleError) -> Packed {
    var manifest = manifest
    var members: [BundleMember] = []
    var attached: [BundleMember] = []
    for source in sources {
      let (size, sha256) = try BundleError.disk(ContentDigest.measure(File(source.file.path)))
      var recording = Manifest.Recording(
        identifier: source.identifier,
        path: BundleLayout.recordings + source.name.description,
        size: size, sha256: sha256, recordedAt: source.recordedAt, call: source.call,
        exchange: source.exchange)
      if recording.exchange != nil, let body = source.requestBody {
        let (size, sha256) = try BundleError.disk(ContentDigest.measure(File(body.path)))
        recording.exchange?.request.body = Manifest.Exchange.Body(size: size, sha256: sha256)
        attached.append(BundleMember(name: recording.requestBodyPath, source: body.path, recording: nil))
      }
      members.append(BundleMember(name: recording.path, source: source.file.path, recording: recording))
    }
    members.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    manifest.recordings = members.compactMap(\.recording)
    let paths = PortablePaths(attachments.map(\.name), below: BundleLayout.attachments, areEncoded: false)
    for attachment in attachments {
      guard let name = paths[attachment.name] else {
        throw .nameTooLong(BundleLayout.attachments + attachment.name)
      }
      attached.append(BundleMember(name: name, source: attachment.file.path, recording: nil))
    }
    members += attached.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    return try write(manifest, json: Array(manifest.json()), members, to: zip)
  }

  /// Packs any folder: each file becomes a recording whose identifier is its path relative to the folder, such as
  /// `news/feed.json`. Throws if the folder contains links or devices.
  public static func pack(
    plainFolder folder: URL, application: Manifest.Application, device: Manifest.Device,
    id: SnapshotID = SnapshotID(), report: ReportID? = nil, createdAt: Date = Date(), note: String? = nil,
    fields: [String: String] = [:], to zip: URL
  ) throws(BundleError) -> Packed {
    let sources = try FolderTree(folder.path).files.map { name in
      Source(identifier: name, file: URL(filePath: folder.path + "/" + name), recordedAt: createdAt)
    }
    let manifest = Manifest(
      id: id, createdAt: createdAt, application: application, device: device, report: report, note: note,
      fields: fields)
    return try pack(sources, describedBy: manifest, to: zip)
  }

  static func write(
    _ manifest: Manifest, json: [UInt8], _ members: [BundleMember], emptyFolders: [String] = [], to zip: URL
  ) throws(BundleError) -> Packed {
    // Report names that readers reject before the expensive compression.
    let names = [BundleLayout.manifest] + emptyFolders + members.map(\.name)
    try BundleError.zip(ZipProfile.strict.check(names))
    return try write(manifest, json: json, to: zip) { writer throws(BundleError) in
      for folder in emptyFolders { try BundleError.zip(writer.add(folder, bytes: [])) }
      let executables = Set(members.lazy.filter(\.isExecutable).map(\.name))
      try BundleError.zip(writer.addFiles(members.map { ($0.name, $0.source) }, executables: executables))
      // Verify after compressing, to detect files that changed while they were read.
      for member in members { try member.verify() }
    }
  }

  /// Writes the manifest and what `addMembers` adds to a new bundle at `zip`, which it replaces atomically and durably.
  static func write(
    _ manifest: Manifest, json: [UInt8], to zip: URL,
    _ addMembers: (_ writer: ZipWriter) throws(BundleError) -> Void
  ) throws(BundleError) -> Packed {
    let staging = Staging(beside: zip)
    do {
      let file = try BundleError.disk(staging.createFile())
      let writer = ZipWriter(file, profile: .strict)
      try BundleError.zip(writer.add(BundleLayout.manifest, bytes: json))
      try addMembers(writer)
      let size = try BundleError.zip(writer.finish())
      let sha256 = try BundleError.disk(staging.publish(file, at: zip))
      return Packed(manifest: manifest, size: size, sha256: sha256)
    } catch {
      staging.remove()
      throw error
    }
  }
}

/// A temporary path next to a final name.
struct Staging {
  /// The folder that contains both.
  let folder: String
  /// The temporary path, which is unique.
  let path: String

  init(beside final: URL) {
    folder = Folder.parent(of: final.path)
    path = folder + "/" + StagedName.make()
  }

  /// Creates the temporary file.
  func createFile() throws(SystemError) -> File {
    try TemporaryPaths.create(path) { () throws(SystemError) in try File(path, .create(mode: 0o600)) }
  }

  /// Creates the temporary folder.
  func createFolder() throws(SystemError) {
    try TemporaryPaths.create(path) { () throws(SystemError) in try Folder.create(path) }
  }

  /// Gives the temporary file its final name, durably. It replaces what has this name.
  /// - Returns: the digest of its contents.
  func publish(_ file: File, at final: URL) throws(SystemError) -> ContentDigest {
    try file.synchronize()
    let sha256 = try ContentDigest.of(contentsOf: file)
    try Folder.replace(final.path, with: path)
    forget()
    try Folder.synchronize(folder)
    return sha256
  }

  /// Records that the file or folder has its final name.
  func forget() { TemporaryPaths.forget(path) }

  /// Removes the temporary file or folder after a failure. An error here is ignored, because the first failure is
  /// reported.
  func remove() {
    do { try Folder.removeTree(path) } catch {}
    forget()
  }
}
