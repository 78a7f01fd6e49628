import Dispatch
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotAPI
import SnapshotDiff
import SnapshotFormat
import SnapshotStore
import SnapshotViewer
import SystemIO
import ZipArchive

/// Reads the parts of bundles that pages show. They are limited to the space of a page, and the memory used does not
/// depend on the bundle's size. All methods block.
enum BundleReading {
  /// Returns the list of what is in the bundle, or the reason why it can't be read.
  /// - Parameters:
  ///   - current: the path of the selected file.
  ///   - other: the bundle with which the recordings are compared.
  static func list(
    of bundle: StoredBundle, _ selection: ListSelection, current: String? = nil, cache: ContentsCache,
    with other: StoredBundle? = nil, filter: ComparisonFilter = ComparisonFilter()
  ) throws(StoreError) -> Result<ContentsList, Unreadable> {
    var list: ContentsList
    let checked: CheckedBundle
    do {
      checked = try CheckedBundle(bundle.file)
      let modules = bundle.record.modules
      let contents = try cache.contents(of: bundle.record.sha256) { () throws(BundleError) in
        try BundleContents(checked, modules: modules)
      }
      try contents.examine(checked) { ServerQueues.shared.maintenance.async($0) }
      list = ContentsList(contents, selection, modules: modules)
    } catch {
      return .failure(try unreadable(error))
    }
    list.current = current
    if let other {
      list.with = other.record.id
      list.differences = try differences(of: list, in: checked, with: other, filter)
    }
    return .success(list)
  }

  /// Returns how the recordings of the page differ from those of `other`; nothing if that can't be read.
  private static func differences(
    of list: ContentsList, in bundle: CheckedBundle, with other: StoredBundle, _ filter: ComparisonFilter
  ) throws(StoreError) -> [String: RecordingDifferences.State] {
    do {
      let paths = Set(list.page.rows.map { list.contents.recordings[$0].path })
      return try RecordingDifferences.of(
        paths, in: bundle, comparedWith: CheckedBundle(other.file), filter: filter)
    } catch {
      _ = try unreadable(error)
      return [:]
    }
  }

  /// Returns the page of a file in the bundle.
  /// - Parameters:
  ///   - other: the bundle with which the file is compared; `nil` for none.
  ///   - filter: the values that are not compared.
  static func preview(
    of file: ZipEntry, in bundle: StoredBundle, _ selection: FileSelection, cache: ViewerCache,
    with other: StoredBundle? = nil, filter: ComparisonFilter = ComparisonFilter()
  ) throws -> PreviewPage {
    var page = PreviewPage(
      record: bundle.record, path: file.name, size: file.size, selection: selection,
      preview: FilePreview(.empty))
    do {
      do {
        page.recording = try CheckedBundle(bundle.file).recording(at: file.name)
      } catch {
        page.preview = FilePreview(.unreadable(try unreadable(error).description))
        return page
      }
      page.preview = try FilePreview(
        file.name, file, of: bundle.file, bundle: bundle.record.sha256, selection, cache: cache)
      if let other {
        page.comparison = try comparison(
          of: page, file, in: bundle, with: other, filter: filter, cache: cache)
      }
    } catch ViewerError.zip(let error) {
      guard case .damaged = StoreError(reading: error) else { throw StoreError(reading: error) }
      page.preview = FilePreview(.unreadable(Unreadable.damaged.description))
    } catch ViewerError.outOfSpace {
      page.preview = FilePreview(.unreadable(Self.noSpace))
    } catch ViewerError.system(let error) {
      throw StoreError.system(error)
    }
    return page
  }

  /// Compares the page of a file. If the other bundle can't be read, the page tells.
  private static func comparison(
    of page: PreviewPage, _ file: ZipEntry, in bundle: StoredBundle, with other: StoredBundle,
    filter: ComparisonFilter, cache: ViewerCache
  ) throws -> FileComparison {
    func failed(_ reason: String) -> FileComparison {
      FileComparison(other: other.record, path: nil, outcome: .failed(reason))
    }
    do {
      return try FileComparison(of: page, file, in: bundle, with: other, filter: filter, cache: cache)
    } catch let error as BundleError {
      return failed(try unreadable(error).description)
    } catch StoreError.damaged {
      return failed(Unreadable.damaged.description)
    } catch ViewerError.zip(let error) {
      guard case .damaged = StoreError(reading: error) else { throw StoreError(reading: error) }
      return failed(Unreadable.damaged.description)
    } catch ViewerError.outOfSpace {
      return failed(noSpace)
    }
  }

  /// Returns the decoded contents of the string at a JSON Pointer in a file. An image is shown; all else is a download.
  static func decoded(
    _ string: String, in file: ZipEntry, of bundle: StoredBundle, cache: ViewerCache
  ) throws -> Representation {
    do {
      let (decoded, _) = try cache.decoded(
        string, in: file.name, file, of: bundle.file, bundle.record.sha256)
      let type = try FileHead(decoded.bytes).image(at: nil)?.format.mediaType
      let (contents, offset) = decoded.bytes.place
      return Representation(
        .parts([.file(contents, offset: offset, count: Int64(decoded.bytes.size))]),
        contentType: type ?? "application/octet-stream",
        headerFields: [
          .contentDisposition: ContentDisposition(
            kind: type == nil ? "attachment" : "inline", fileName: "decoded"
          ).fieldValue,
          // In case a browser shows it nevertheless: no scripts, no origin, no use in other pages.
          .contentSecurityPolicy: "default-src 'none'; sandbox",
          .crossOriginResourcePolicy: "same-origin",
        ])
    } catch ViewerError.zip(let error) {
      throw StoreError(reading: error)
    } catch ViewerError.outOfSpace {
      throw HTTPProblem(.busy, detail: Self.noSpace, headerFields: [.retryAfter: "5"])
    } catch ViewerError.system(let error) {
      throw StoreError.system(error)
    }
  }

  private static let noSpace =
    "The server's disk is full, so there is no room to unpack the file. It can be downloaded, or shown later."

  /// Returns the selected differences between two bundles.
  static func differences(
    _ first: StoredBundle, _ second: StoredBundle, _ selection: DiffSelection, _ filter: ComparisonFilter
  ) throws -> DiffPage.Content {
    do {
      let (one, other) = (try CheckedBundle(first.file), try CheckedBundle(second.file))
      if let item = selection.item {
        return .item(try DiffItem(item, one, other, filter: filter, skipping: selection.from))
      }
      let modules = together(first.record.modules, second.record.modules)
      return .list(
        try DiffSummary(one, other, modules: modules, selection: page(selection, filter: filter)))
    } catch {
      _ = try unreadable(error)
      throw StoreError.damaged
    }
  }

  private static func page(
    _ selection: DiffSelection, filter: ComparisonFilter = ComparisonFilter()
  ) -> ComparisonSelection {
    var page = ComparisonSelection(filter: filter)
    if let kind = selection.kind { page.kinds = [kind] }
    (page.recordingsAfter, page.filesAfter) = (selection.after, selection.filesAfter)
    return page
  }

  /// Returns about how many bytes a comparison of both bundles reads.
  static func size(
    of selection: DiffSelection, _ first: StoredBundle, _ second: StoredBundle
  ) throws -> Int64 {
    do {
      let (one, other) = (try CheckedBundle(first.file), try CheckedBundle(second.file))
      guard let item = selection.item else { return try DiffSummary.size(of: page(selection), one, other) }
      return try DiffItem.size(of: item, one, other)
    } catch {
      _ = try unreadable(error)
      throw StoreError.damaged
    }
  }

  /// Returns the modules of both snapshots without duplicates, each with the identifiers that it declares in either
  /// one.
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

  /// Converts an error in a bundle that was valid when it was attached.
  private static func unreadable(_ error: BundleError) throws(StoreError) -> Unreadable {
    if case .system(let cause) = error { throw .system(cause) }
    return .damaged
  }
}
