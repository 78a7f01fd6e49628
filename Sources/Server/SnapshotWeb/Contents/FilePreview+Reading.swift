import HTTPEngine
import JSONText
import SnapshotAPI
package import SnapshotFormat
package import SnapshotViewer
package import SystemIO
package import ZipArchive

extension FilePreview {
  /// Limits for reading and displaying a file.
  package struct Limits: Sendable, Hashable {
    /// The number of bytes on a page that shows bytes.
    package var bytes = 4096
    /// The number of hits on a page.
    package var hits = 50

    /// Creates limits with the default values.
    package init() {}

    /// The default limits.
    package static let `default` = Limits()
  }

  /// Reads what a page shows of a file. Detects the file's type from its first bytes, not from its name. Blocks for the
  /// disk.
  ///
  /// The memory used does not depend on the file's size. The first page of a file waits until the file is inflated and
  /// indexed.
  ///
  /// - Parameters:
  ///   - path: the file's path in the bundle.
  ///   - entry: the file, of the bundle `archive` with the digest `bundle`.
  ///   - cache: the files that were viewed last.
  /// - Throws: An ``HTTPProblem`` if the selection does not fit the file.
  package init(
    _ path: String, _ entry: ZipEntry, of archive: File, bundle: ContentDigest,
    _ selection: FileSelection = FileSelection(), cache: ViewerCache, limits: Limits = .default
  ) throws {
    let key = ViewerCache.Key(bundle: bundle.description, path: path)
    let file = try cache.file(key, entry, of: archive)
    let head = try FileHead(file.bytes)
    if head.bytes.isEmpty {
      self.init(.empty)
    } else if selection.view == nil, head.image(at: path) {
      self.init(.image)
    } else if case .index(let index) = file.json, selection.view?.isOfText != true {
      try self.init(JSONView(file.bytes, index), selection, limits)
    } else if head.isText, selection.view != .hex {
      try self.init(text: file, selection, limits, claimsJSON: head.claimsJSON)
    } else {
      try self.init(bytes: file, selection, limits, isText: head.isText)
    }
  }

  // MARK: - JSON

  /// Reads what a page shows of a JSON document.
  private init(_ json: JSONView, _ selection: FileSelection, _ limits: Limits) throws {
    guard let tokens = JSONPath.tokens(ofPointer: selection.pointer) else {
      throw HTTPProblem.badRequest(
        "‘\(PageField.at.rawValue)’ must be a JSON Pointer, such as ‘/items/0/title’.")
    }
    guard let place = try json.place(at: tokens) else {
      throw HTTPProblem.badRequest("The file has no value at this path.")
    }
    let views = FileSelection.View.ofJSON
    if let found = try Self.place(at: selection.find, in: json) {
      self.init(.outline(try JSONOutline(json, found)), view: .tree, views: views)
      return
    }
    if !selection.find.isEmpty {
      guard let search = JSONSearch(selection.find) else {
        throw HTTPProblem.badRequest("The text to find is too long, or there is none.")
      }
      self.init(
        .hits(try search.hits(in: json, from: selection.from, count: limits.hits)), view: .tree, views: views)
      return
    }
    let documents = Measures.count(json.index.documents, "JSON document")
    let note = json.index.isSequence ? "The file contains \(documents)." : nil
    switch selection.view {
    case .formatted:
      self.init(
        .formatted(try JSONFormatted(json, from: selection.from), count: json.index.lines), view: .formatted,
        views: views, remark: note)
    case .table:
      if let place = try JSONTable.place(in: json, at: place),
        let table = try JSONTable(json, place, from: selection.from, order: selection.order)
      {
        let remark =
          table.isTooLongToSort
          ? "Only the first rows in this order are shown. These rows are not sorted." : nil
        self.init(.table(table), view: .table, views: views, remark: remark)
      } else {
        self.init(
          .outline(try JSONOutline(json, place)), view: .tree, views: views,
          remark: "The value is shown as a tree, because it is not an array of objects and contains none.")
      }
    default:
      if let page = try JSONStringPage(json, place, from: selection.from) {
        self.init(.string(page), view: .tree, views: views, remark: note)
      } else {
        self.init(
          .outline(try JSONOutline(json, place, from: selection.from)), view: .tree, views: views,
          remark: note)
      }
    }
  }

  /// Finds the value at a path that a user entered instead of a text.
  private static func place(at text: String, in json: JSONView) throws(ViewerError) -> JSONPlace? {
    guard !text.isEmpty, let tokens = JSONPath.tokens(ofPointer: text) ?? JSONPath.tokens(ofPath: text) else {
      return nil
    }
    return try json.place(at: tokens)
  }

  // MARK: - Other contents

  private init(
    text file: ViewedFile, _ selection: FileSelection, _ limits: Limits, claimsJSON: Bool
  ) throws {
    var remark: String?
    var views: [FileSelection.View] = [.text, .hex]
    switch file.json {
    case .index: views = FileSelection.View.ofJSON
    case .invalid(let failure): if claimsJSON { remark = "It is not valid JSON: \(failure)." }
    case .tooLarge: if claimsJSON { remark = "It is too large to be shown as JSON." }
    case nil: break
    }
    guard let text = try TextView(file.bytes) else {
      try self.init(bytes: file, selection, limits, isText: false)
      self.remark = "It is too large to be shown as text."
      return
    }
    guard selection.find.isEmpty else {
      let found = try text.matches(of: selection.find, from: selection.from, count: limits.hits)
      self.init(
        .matches(found.matches, count: found.count, isCut: found.isCut), view: .text, views: views,
        remark: remark)
      return
    }
    self.init(
      .text(try text.lines(from: selection.from), count: text.lineCount), view: .text, views: views,
      remark: remark)
  }

  private init(bytes file: ViewedFile, _ selection: FileSelection, _ limits: Limits, isText: Bool) throws {
    let start = selection.from / 16 * 16
    let bytes = try file.bytes.read(upTo: limits.bytes, at: start)
    let rows = stride(from: 0, to: bytes.count, by: 16).map { Array(bytes[$0..<min($0 + 16, bytes.count)]) }
    var views: [FileSelection.View] = isText ? [.text, .hex] : []
    if case .index = file.json { views = FileSelection.View.ofJSON }
    self.init(.hex(rows), view: .hex, views: views)
  }
}

extension ViewerCache {
  /// Returns the file with its index.
  fileprivate func file(_ key: Key, _ entry: ZipEntry, of archive: File) throws(ViewerError) -> ViewedFile {
    try file(key, entry, of: archive) { bytes throws(ViewerError) in
      let head = try FileHead(bytes)
      return ViewedFile(bytes: bytes, json: head.mayBeJSON ? try JSONIndex.of(bytes) : nil)
    }
  }
}

extension FileSelection.View {
  /// The views of a JSON document.
  fileprivate static let ofJSON: [Self] = [.tree, .table, .formatted, .text, .hex]

  /// Whether the view shows the file as it is.
  fileprivate var isOfText: Bool { self == .text || self == .hex }
}
