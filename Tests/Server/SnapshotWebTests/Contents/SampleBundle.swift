import Foundation
import SnapshotFormat
import SnapshotViewer
@testable import SnapshotWeb
import SystemIO
import TestSupport
import Testing
import ZipArchive

/// A bundle that a page shows something of.
struct SampleBundle {
  let bundle: CheckedBundle
  private let file: File
  private let temporary: TemporaryFolder

  /// Zips `recordings`, by their identifiers, and other files.
  init(
    _ recordings: [(identifier: String, bytes: [UInt8])] = [], files: [(name: String, bytes: [UInt8])] = [],
    modules: [Module] = [], dropped: [Manifest.Dropped] = []
  ) throws {
    var manifest = Manifest(
      id: SnapshotID(), createdAt: Date(timeIntervalSince1970: 0),
      application: .init(identifier: "com.example.news", version: "3.1", build: "7"),
      device: .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.0", locale: "de_AT"),
      modules: modules, redactions: ["e-mail"])
    manifest.dropped = dropped
    manifest.recordings = recordings.map { identifier, bytes in
      Manifest.Recording(
        identifier: identifier, path: "recordings/\(RecordingName(identifier))", size: Int64(bytes.count),
        sha256: .of(bytes), recordedAt: manifest.createdAt)
    }
    temporary = try TemporaryFolder.forManyFiles(bytes: 1 << 28)
    file = try File(temporary.file("bundle.zip").path, .create(mode: 0o600))
    let writer = ZipWriter(file, level: 1)
    try writer.add("manifest.json", bytes: Array(manifest.json()))
    for (recording, source) in zip(manifest.recordings, recordings) {
      try writer.add(recording.path, bytes: source.bytes)
    }
    for (name, bytes) in files { try writer.add(name, bytes: bytes) }
    try writer.finish()
    bundle = try CheckedBundle(file)
  }

  init(_ recordings: [(identifier: String, text: String)], modules: [Module] = []) throws {
    try self.init(recordings.map { ($0.identifier, Array($0.text.utf8)) }, modules: modules)
  }

  /// What a page shows of the file at `path`.
  func preview(_ path: String, _ selection: FileSelection = FileSelection()) throws -> FilePreview {
    let entry = try #require(try ZipDirectory(file).entry(named: path))
    return try FilePreview(
      path, entry, of: file, bundle: .of([UInt8]()), selection,
      cache: ViewerCache(CopySpace(folder: temporary.path)))
  }
}
