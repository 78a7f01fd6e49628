import Foundation

@testable import SnapshotFormat

extension FuzzedParser {
  /// An accepted manifest is formatted and parsed to the same value, and its recordings are at allowed paths.
  func checkManifest(_ input: [UInt8]) throws {
    let manifest: Manifest
    do throws(BundleError) {
      manifest = try Manifest(json: Data(input))
    } catch {
      // The sender receives the description.
      try require(!error.description.isEmpty, "no description for \(error)")
      return
    }
    var paths: Set<String> = []
    for recording in manifest.recordings {
      let name = recording.path.dropFirst(BundleLayout.recordings.count)
      try require(
        recording.path.hasPrefix(BundleLayout.recordings) && !name.isEmpty && name != "." && name != ".."
          && name.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x2F && $0 != 0x5C }
          && paths.insert(name.lowercased()).inserted,
        "a recording is at \(recording.path.debugDescription)")
      try require(recording.size >= 0, "a recording has \(recording.size) bytes")
    }
    let json = try manifest.json()
    let again = try Manifest(json: json)
    try require(again == manifest, "it is written as \(String(decoding: json, as: UTF8.self))")
    try require(try again.json() == json, "it is written in two ways")
  }
}
