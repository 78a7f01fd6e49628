import SnapshotFormat
import SnapshotPages
import SnapshotStore
import ZipArchive

/// What pages show of what is in a bundle. All of it blocks.
enum BundleReading {
  /// What the bundle holds.
  static func contents(
    of bundle: StoredBundle, _ selection: SnapshotPage.Selection
  ) throws -> Result<BundleContents, Unreadable> {
    .failure(.damaged)
  }

  /// What a file of the bundle looks like.
  static func preview(of entry: ZipEntry, in bundle: StoredBundle) throws -> PreviewPage {
    PreviewPage(
      record: bundle.record, path: entry.name, size: entry.size, preview: FilePreview(.empty))
  }

  /// What differs between two bundles.
  static func differences(_ first: StoredBundle, _ second: StoredBundle) throws -> DiffSummary {
    DiffSummary(facts: [], counts: .init(), recordings: [], files: [])
  }
}
