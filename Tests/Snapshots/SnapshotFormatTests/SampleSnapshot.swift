import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import ZipArchive

/// A snapshot in a temporary folder, to be packed, or to be changed first.
struct SampleSnapshot {
  let temporary: TemporaryFolder
  var manifest: Manifest

  /// The snapshot's folder.
  var folder: URL { temporary.file("snapshot") }
  /// The location of its zip.
  var zip: URL { temporary.file("snapshot.zip") }

  static let application = Manifest.Application(identifier: "com.example.news", version: "3.1", build: "7")
  static let device = Manifest.Device(
    model: "iPhone17,1", system: "iOS", systemVersion: "26.0", locale: "de_AT")
  static let time = Date(timeIntervalSince1970: 1_700_000_000)

  /// Creates `recordings`, with an attachment and a file of app data.
  init(
    _ recordings: [String: Data] = ["news/feed": Data("{\"a\":1}".utf8), "A": Data("A".utf8), "a": Data()]
  ) throws {
    temporary = try TemporaryFolder()
    manifest = Manifest(
      id: SnapshotID(), createdAt: Self.time, application: Self.application, device: Self.device)
    for (identifier, data) in recordings.sorted(by: { $0.key < $1.key }) {
      let path = "recordings/\(RecordingName(identifier))"
      try temporary.write(data, to: "snapshot/" + path)
      manifest.recordings.append(
        .init(
          identifier: identifier, path: path, size: Int64(data.count), sha256: .of(data),
          recordedAt: Self.time))
    }
    try temporary.write(Data("log".utf8), to: "snapshot/attachments/log.txt")
    try temporary.write(Data("plist".utf8), to: "snapshot/app-data/Library/Preferences/a.plist")
    try writeManifest()
  }

  /// Writes `manifest.json` without checking it.
  func writeManifest() throws {
    try temporary.write(SnapshotJSON.encode(manifest, pretty: true), to: "snapshot/manifest.json")
  }

  /// Zips the folder without checking it, with `extra` entries.
  func zipUnchecked(extra: [String: Data] = [:]) throws -> URL {
    try Folder.removeIfPresent(zip.path)
    let writer = ZipWriter(try File(zip.path, .create(mode: 0o600)), level: 0)
    for name in try names(in: folder) {
      try writer.add(name, bytes: Array(Data(contentsOf: folder.appending(path: name))))
    }
    for (name, data) in extra.sorted(by: { $0.key < $1.key }) { try writer.add(name, bytes: Array(data)) }
    try writer.finish()
    return zip
  }

  /// The names of all files below `folder`, sorted.
  func names(in folder: URL) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      .filter { Folder.isRegularFile(folder.path + "/" + $0) }.sorted()
  }

  /// The contents of the files below `folder`, by name.
  func contents(of folder: URL) throws -> [String: Data] {
    try names(in: folder).reduce(into: [:]) { $0[$1] = try Data(contentsOf: folder.appending(path: $1)) }
  }

  /// The names in the temporary folder, to detect files that an operation left there.
  func leftovers() throws -> [String] { try Folder.entries(temporary.path) }
}
