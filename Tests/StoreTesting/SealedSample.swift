import Foundation
package import SnapshotFormat
import SnapshotSealing
import TestSupport

/// A sealed bundle with a word in every part that its head does not show.
package struct SealedSample {
  /// The words that nobody can find without a key.
  package static let canaries = [
    "canaryidentifier", "canarycontents", "canarynote", "canaryfield", "canaryvalue", "canarymodule",
    "canaryrule",
    "canaryunknown", "canaryfile",
  ]

  /// The bytes of the sealed bundle, and of the one inside.
  package let bytes: [UInt8]
  package let inner: [UInt8]
  /// The clear head, and what a server learns of it.
  package let summary: BundleSummary

  package init() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Data("canarycontents".utf8), to: "file")
    var manifest = Manifest(
      id: SnapshotID(), createdAt: Date(timeIntervalSince1970: 1_790_000_000),
      application: .init(identifier: "com.example.news", version: "3.1.4", build: "15"),
      device: .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.1", locale: "de_AT"),
      modules: [Module(name: "canarymodule", files: ["canaryidentifier"])], redactions: ["canaryrule"],
      note: "canarynote", fields: ["canaryfield": "canaryvalue"])
    manifest.unknown["extra"] = .string("canaryunknown")
    let (clear, sealed) = (folder.file("clear.zip"), folder.file("sealed.zip"))
    _ = try SnapshotBundle.pack(
      [.init(identifier: "canaryidentifier", file: file, recordedAt: manifest.createdAt)],
      attachments: [.init(name: "canaryfile.txt", file: file)], describedBy: manifest, to: clear)
    _ = try SnapshotBundle.seal(zip: clear, to: [SealingIdentity.generate().recipient], to: sealed)
    bytes = Array(try Data(contentsOf: sealed))
    inner = Array(try Data(contentsOf: clear))
    summary = try SnapshotBundle.check(zip: sealed, depth: .full)
  }

  /// The canaries that `bytes` contain.
  package static func canaries(in bytes: some Collection<UInt8>) -> [String] {
    let data = Data(bytes)
    return canaries.filter { data.firstRange(of: Data($0.utf8)) != nil }
  }
}
