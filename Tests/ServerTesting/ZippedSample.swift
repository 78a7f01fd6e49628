import Foundation
package import SnapshotFormat
import SystemIO
import TestSupport
import ZipArchive

/// A snapshot bundle with one recording, valid or invalid.
package struct ZippedSample {
  /// The manifest in the bundle.
  package let manifest: Manifest
  /// The zip.
  package let bytes: [UInt8]

  /// The UUID in the manifest.
  package var id: SnapshotID { manifest.id }
  /// The digest of the zip.
  package var sha256: ContentDigest { .of(bytes) }
  /// The value of `Repr-Digest` and `Content-Digest`.
  package var digestField: String { Self.digestField(bytes) }

  /// Creates a zip of a snapshot that contains `recording`, with its manifest changed by `alter`, and `extra` entries.
  package init(
    _ recording: String = "{\"news\":[]}", extra: [String: String] = [:], level: Int32 = 0,
    alter: (inout Manifest) -> Void = { _ in }
  ) throws {
    let data = Array(recording.utf8)
    var manifest = Manifest(
      id: SnapshotID(), createdAt: Date(timeIntervalSince1970: 1_790_000_000),
      application: .init(identifier: "com.example.news", version: "3.1.4", build: "15"),
      device: .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.1", locale: "de_AT"),
      modules: [Module(name: "News", files: ["feed"])],
      recordings: [
        .init(
          identifier: "feed", path: "recordings/\(RecordingName("feed"))", size: Int64(data.count),
          sha256: .of(data),
          recordedAt: Date(timeIntervalSince1970: 1_790_000_000))
      ])
    let path = manifest.recordings[0].path
    alter(&manifest)
    self.manifest = manifest
    let folder = try TemporaryFolder()
    let file = try File(folder.file("bundle.zip").path, .create(mode: 0o600))
    let writer = ZipWriter(file, level: level)
    try writer.add("manifest.json", bytes: Array(SnapshotJSON.encode(manifest)))
    try writer.add(path, bytes: data)
    for (name, text) in extra.sorted(by: { $0.key < $1.key }) {
      try writer.add(name, bytes: Array(text.utf8))
    }
    let size = try writer.finish()
    bytes = try file.read(upTo: Int(size), at: 0)
  }

  /// The value of `Repr-Digest` and `Content-Digest` for other bytes.
  package static func digestField(_ bytes: [UInt8]) -> String {
    "sha-256=:\(Data(ContentDigest.of(bytes).bytes).base64EncodedString()):"
  }

  /// Returns the bytes with each occurrence of `text` replaced by another text of the same length.
  package func replacing(_ text: String, with other: String) -> [UInt8] {
    precondition(text.utf8.count == other.utf8.count)
    return bytes.replacing(Array(text.utf8), with: Array(other.utf8))
  }
}
