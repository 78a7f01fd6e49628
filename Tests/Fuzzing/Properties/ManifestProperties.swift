import Foundation

@testable import SnapshotFormat

extension FuzzedParser {
  /// A manifest that is taken is written, and read again as the same; no recording in it lies elsewhere than it may.
  func checkManifest(_ input: [UInt8]) throws {
    let manifest: Manifest
    do throws(BundleError) {
      manifest = try Manifest(json: Data(input))
    } catch {
      // Whoever sent it is told in one piece of text.
      try require(!error.description.isEmpty, "no words for \(error)")
      return
    }
    var paths: Set<String> = []
    for recording in manifest.recordings {
      let name = recording.path.dropFirst(BundleLayout.recordings.count)
      try require(
        recording.path.hasPrefix(BundleLayout.recordings) && !name.isEmpty && name != "." && name != ".."
          && name.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != 0x2F && $0 != 0x5C }
          && paths.insert(name.lowercased()).inserted,
        "a recording lies at \(recording.path.debugDescription)")
      try require(recording.size >= 0, "a recording has \(recording.size) bytes")
    }
    let json = try manifest.json()
    let again = try Manifest(json: json)
    try require(again == manifest, "it is written as \(String(decoding: json, as: UTF8.self))")
    try require(try again.json() == json, "it is written in two ways")
  }
}
