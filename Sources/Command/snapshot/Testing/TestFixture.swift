import Foundation
import Redaction
import SnapshotFormat

/// A verified bundle that becomes the fixture of a test.
struct TestFixture {
  /// The bundle.
  let zip: URL
  /// Its manifest.
  let manifest: Manifest

  /// Verifies a snapshot, and writes the bundle into `scratch`.
  /// - Parameter rules: the rules by which secrets are removed; `nil` for a copy with the same bytes.
  init(of source: SnapshotSource, by rules: RedactionRules?, in scratch: ScratchFolder) throws {
    let original = try source.snapshot(packedTo: scratch.file("packed.zip"))
    zip = scratch.file("fixture.zip")
    do {
      if let rules {
        _ = try RulesOptions.redact(
          .bundle(original), by: rules, keepsWords: false, isReproducible: true, in: scratch)
        _ = try SnapshotBundle.pack(folder: scratch.file("redacted"), to: zip)
      } else {
        try FileManager.default.copyItem(at: original, to: zip)
      }
      manifest = try SnapshotBundle.validate(zip: zip, depth: .full)
    } catch let error as BundleError {
      throw CommandFailure(error.description, status: .refused)
    }
  }

  /// The name of the test: `wanted`, or else the report that `snapshot`, by which the snapshot was named, or the manifest
  /// names, or else the beginning of the UUID.
  func name(_ wanted: String?, of snapshot: String) throws(CommandFailure) -> TestName {
    if let wanted { return try TestName(wanted) }
    let isReport = SnapshotID(snapshot) == nil && snapshot.contains { $0.isNumber } && !snapshot.contains(".")
    let report = isReport && !snapshot.contains("/") ? ReportID(snapshot) : nil
    guard let text = (report ?? manifest.report)?.description else {
      return try TestName("Snapshot-\(manifest.id.description.prefix(8))")
    }
    // A report's id can have characters that a file's name can't have.
    return try TestName(
      String(text.map { TestName.isAllowed($0) ? $0 : "-" }.drop { $0 == "." }.prefix(TestName.longest)))
  }
}
