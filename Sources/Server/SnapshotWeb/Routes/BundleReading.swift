import Observability
import SnapshotAPI
import SnapshotFormat
import SnapshotStore
import ZipArchive

/// What pages show of what is in a bundle: so much of it that each fits, in memory that does not grow with the bundle.
/// All of it blocks.
enum BundleReading {
  /// What the bundle holds, or why that can't be told.
  static func contents(
    of bundle: StoredBundle, _ selection: SnapshotPage.Selection
  ) throws(StoreError) -> Result<BundleContents, Unreadable> {
    do throws(BundleError) {
      return .success(
        try BundleContents(
          CheckedBundle(bundle.file), modules: bundle.record.modules, selection: selection))
    } catch {
      return .failure(try unreadable(error))
    }
  }

  /// What a file of the bundle looks like.
  static func preview(of file: ZipEntry, in bundle: StoredBundle) throws -> PreviewPage {
    var page = PreviewPage(
      record: bundle.record, path: file.name, size: file.size, preview: FilePreview(.empty))
    do throws(BundleError) {
      let checked = try CheckedBundle(bundle.file)
      page.recording = try checked.recording(at: file.name)
      guard let entry = try checked.entry(at: file.name) else { return page }
      page.preview = try FilePreview(entry, path: file.name)
    } catch {
      page.preview = FilePreview(.unreadable(try unreadable(error).description))
    }
    return page
  }

  /// What differs between two bundles.
  static func differences(_ first: StoredBundle, _ second: StoredBundle) throws -> DiffSummary {
    do throws(BundleError) {
      return try DiffSummary(
        CheckedBundle(first.file), CheckedBundle(second.file),
        modules: together(first.record.modules, second.record.modules))
    } catch {
      _ = try unreadable(error)
      throw StoreError.damaged
    }
  }

  /// The modules of both, each once, with what it wants in either.
  private static func together(_ first: [Module], _ second: [Module]) -> [Module] {
    var modules = first
    var places = Dictionary(first.enumerated().map { ($1.name, $0) }) { first, _ in first }
    for module in second {
      guard let place = places[module.name] else {
        places[module.name] = modules.count
        modules.append(module)
        continue
      }
      let known = Set(modules[place].files)
      modules[place].files += module.files.filter { !known.contains($0) }
    }
    return modules
  }

  /// What is told of a bundle that was in order when it came.
  private static func unreadable(_ error: BundleError) throws(StoreError) -> Unreadable {
    if case .system(let cause) = error { throw .system(cause) }
    return .damaged
  }
}
