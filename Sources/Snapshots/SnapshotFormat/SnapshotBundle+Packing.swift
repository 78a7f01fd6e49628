public import Foundation
import SystemIO
import ZipArchive

extension SnapshotBundle {
  /// A file that is to become a recording.
  public struct Source: Sendable, Hashable {
    /// The recording's identifier: any text.
    public var identifier: String
    /// Where its bytes are.
    public var file: URL
    /// When it was recorded.
    public var recordedAt: Date
    /// Which call with the identifier it is, where a history is kept.
    public var call: Int?

    /// Describes a file.
    public init(identifier: String, file: URL, recordedAt: Date, call: Int? = nil) {
      self.identifier = identifier
      self.file = file
      self.recordedAt = recordedAt
      self.call = call
    }

    /// The name of the recording's file.
    var name: RecordingName {
      let name = RecordingName(identifier)
      return call.map { RecordingName(name, call: $0) } ?? name
    }
  }

  /// A file that goes along with the recordings, such as a screenshot.
  public struct Attachment: Sendable, Hashable {
    /// Its path below `attachments/`.
    public var name: String
    /// Where its bytes are.
    public var file: URL

    /// Describes a file.
    public init(name: String, file: URL) {
      self.name = name
      self.file = file
    }
  }

  /// Zips the snapshot folder at `folder` into a file at `zip`; the same folder gives the same bytes.
  ///
  /// Every recording is checked against the manifest on the way. The zip is written beside its place and moved
  /// there, durably, in one step, replacing what stands there; when it fails, nothing has changed.
  public static func pack(folder: URL, to zip: URL) throws(BundleError) -> Packed {
    let bundle = try FolderBundle(folder)
    return try write(
      bundle.manifest, json: bundle.json, bundle.members, emptyFolders: bundle.emptyFolders, to: zip)
  }

  /// Makes a bundle of single files, each under the identifier that it is to have, and writes it to `zip` as
  /// ``pack(folder:to:)`` does.
  /// - Parameter manifest: everything but the recordings; these are described here.
  public static func pack(
    _ sources: [Source], attachments: [Attachment] = [], describedBy manifest: Manifest, to zip: URL
  ) throws(BundleError) -> Packed {
    var manifest = manifest
    var members: [BundleMember] = []
    for source in sources {
      let (size, sha256) = try BundleError.disk(ContentDigest.measure(File(source.file.path)))
      let recording = Manifest.Recording(
        identifier: source.identifier,
        path: BundleLayout.recordings + source.name.description,
        size: size, sha256: sha256, recordedAt: source.recordedAt, call: source.call)
      members.append(BundleMember(name: recording.path, source: source.file.path, recording: recording))
    }
    members.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    manifest.recordings = members.compactMap(\.recording)
    members += attachments.sorted { $0.name < $1.name }.map {
      BundleMember(name: BundleLayout.attachments + $0.name, source: $0.file.path, recording: nil)
    }
    return try write(manifest, json: Array(manifest.json()), members, to: zip)
  }

  /// Makes a bundle of any folder: each file becomes a recording whose identifier is its path from there, such as
  /// `news/feed.json`. Links and devices are refused.
  public static func pack(
    plainFolder folder: URL, application: Manifest.Application, device: Manifest.Device,
    id: SnapshotID = SnapshotID(), report: ReportID? = nil, createdAt: Date = Date(), to zip: URL
  ) throws(BundleError) -> Packed {
    let sources = try FolderTree(folder.path).files.map { name in
      Source(identifier: name, file: URL(filePath: folder.path + "/" + name), recordedAt: createdAt)
    }
    let manifest = Manifest(
      id: id, createdAt: createdAt, application: application, device: device, report: report)
    return try pack(sources, describedBy: manifest, to: zip)
  }

  static func write(
    _ manifest: Manifest, json: [UInt8], _ members: [BundleMember], emptyFolders: [String] = [], to zip: URL
  ) throws(BundleError) -> Packed {
    // A name that no reader will take is told before anything is deflated.
    let names = [BundleLayout.manifest] + emptyFolders + members.map(\.name)
    try BundleError.zip(ZipProfile.strict.check(names))
    let staging = Staging(beside: zip)
    do throws(BundleError) {
      let file = try BundleError.disk(File(staging.path, .create(mode: 0o600)))
      let writer = ZipWriter(file, profile: .strict)
      try BundleError.zip(writer.add(BundleLayout.manifest, bytes: json))
      for folder in emptyFolders { try BundleError.zip(writer.add(folder, bytes: [])) }
      let executables = Set(members.lazy.filter(\.isExecutable).map(\.name))
      try BundleError.zip(writer.addFiles(members.map { ($0.name, $0.source) }, executables: executables))
      // Looked at now, nothing that changed while it was read gets through.
      for member in members { try member.verify() }
      let size = try BundleError.zip(writer.finish())
      try BundleError.disk(file.synchronize())
      let sha256 = try BundleError.disk(ContentDigest.of(contentsOf: file))
      try BundleError.disk(Folder.replace(zip.path, with: staging.path))
      try BundleError.disk(Folder.synchronize(staging.folder))
      return Packed(manifest: manifest, size: size, sha256: sha256)
    } catch {
      staging.remove()
      throw error
    }
  }
}
