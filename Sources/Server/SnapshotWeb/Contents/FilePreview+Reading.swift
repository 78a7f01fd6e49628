import HTTPEngine
import JSONText
import SnapshotAPI
import SnapshotFormat
import SnapshotViewer
import SystemIO
import ZipArchive

extension FilePreview {
  /// Limits for reading and displaying a file.
  struct Limits: Sendable, Hashable {
    /// The number of bytes on a page that shows bytes.
    var bytes = 4096
    /// The number of hits on a page.
    var hits = 50
    /// The number of values or lines before a hit that is shown in its place.
    var before = 10

    /// The default limits.
    static let `default` = Limits()
  }

  /// Reads what a page shows of a file. Detects the file's type from its first bytes, not from its name. Blocks for the
  /// disk.
  ///
  /// The memory used does not depend on the file's size. The first page of a file waits until the file is inflated,
  /// converted if it is a property list, and indexed.
  ///
  /// - Parameters:
  ///   - path: the file's path in the bundle.
  ///   - entry: the file, of the bundle `archive` with the digest `bundle`.
  ///   - cache: the files that were viewed last.
  /// - Throws: An ``HTTPProblem`` if the selection does not fit the file.
  init(
    _ path: String, _ entry: ZipEntry, of archive: File, bundle: ContentDigest,
    _ selection: FileSelection = FileSelection(), cache: ViewerCache, limits: Limits = .default
  ) throws {
    guard let string = selection.decode else {
      let file = try cache.file(path, entry, of: archive, bundle)
      try self.init(file, name: path, selection, limits)
      return
    }
    let (file, decoded) = try cache.decoded(string, in: path, entry, of: archive, bundle)
    try self.init(file, name: nil, selection, limits)
    self.decoded = decoded
  }

  /// Reads what a page shows of a file with this name, or without a name.
  private init(_ file: ViewedFile, name: String?, _ selection: FileSelection, _ limits: Limits) throws {
    let head = try FileHead(file.contents)
    let image = try FileHead(file.bytes).image(at: name)
    let views = FileSelection.View.views(of: file, isText: head.isText, isImage: image != nil)
    if file.bytes.size == 0 {
      self.init(.empty)
    } else if let image, selection.view?.isOfBytes != true {
      self.init(.image(image), view: .image, views: views)
      return
    } else if let document = file.document, selection.view?.isOfBytes != true {
      try self.init(document, selection, limits)
      self.views = views
      if case .document(let list) = file.propertyList { isKeyedArchive = list.isKeyedArchive }
    } else if head.isText, selection.view != .hex, let text = try TextView(file.contents) {
      try self.init(text: text, selection, limits)
      self.views = views
    } else {
      try self.init(bytes: file, selection, limits)
      self.views = views
    }
    try addRemarks(on: file, head, isMeantAsJSON: head.claimsJSON || FileHead.claimsJSON(name), selection)
  }

  /// Adds what is to be said of the file's format, and why it is not shown in another form.
  private mutating func addRemarks(
    on file: ViewedFile, _ head: FileHead, isMeantAsJSON: Bool, _ selection: FileSelection
  ) throws {
    var remarks = remark.map { [$0] } ?? []
    if case .text(let text) = file.text { remarks += text.remarks }
    if let list = file.propertyListRemark {
      let isShown = file.document != nil && remark == nil && selection.view?.isOfBytes != true
      if isShown || file.document == nil { remarks.append(list) }
    }
    switch file.json {
    case .tooLarge where isMeantAsJSON: remarks.append("It is too large to be shown as JSON.")
    case .invalid(let failure) where isMeantAsJSON: remarks.append("It is not valid JSON: \(failure).")
    default: break
    }
    if case .hex = content, selection.view != .hex {
      if head.isText {
        remarks.append("It is too large to be shown as text.")
      } else if file.propertyList == nil, !isMeantAsJSON || file.json == nil {
        remarks += try file.textRemark(head).map { [$0] } ?? []
      }
    }
    remark = remarks.isEmpty ? nil : remarks.joined(separator: " ")
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
    if selection.hit == nil, let found = try Self.place(at: selection.find, in: json) {
      self.init(.outline(try JSONOutline(json, found)), view: .tree)
      return
    }
    if !selection.find.isEmpty {
      try self.init(searching: json, selection, limits)
      return
    }
    let documents = Measures.count(json.index.documents, "JSON document")
    let remark = json.index.isSequence ? "The file contains \(documents)." : nil
    switch selection.view {
    case .formatted:
      self.init(
        .formatted(try JSONFormatted(json, from: selection.from), count: json.index.lines), view: .formatted,
        remark: remark)
    case .table:
      if let place = try JSONTable.place(in: json, at: place),
        let table = try JSONTable(json, place, from: selection.from, order: selection.order)
      {
        let remark =
          table.isTooLongToSort
          ? "Only the first rows in this order are shown. These rows are not sorted." : nil
        self.init(.table(table), view: .table, remark: remark)
      } else {
        self.init(
          .outline(try JSONOutline(json, place)), view: .tree,
          remark: "The value is shown as a tree, because it is not an array of objects and contains none.")
      }
    default:
      if let page = try JSONStringPage(json, place, from: selection.from) {
        self.init(.string(page), view: .tree, remark: remark)
        encoded = try EncodedText(json, place)
      } else {
        self.init(.outline(try JSONOutline(json, place, from: selection.from)), view: .tree, remark: remark)
      }
    }
  }

  /// Reads the list of matches, or one match in its place.
  private init(searching json: JSONView, _ selection: FileSelection, _ limits: Limits) throws {
    let search: JSONSearch
    do { search = JSONSearch(try ContentQuery(selection.find)) } catch {
      throw HTTPProblem.badRequest(error.description)
    }
    guard let number = selection.hit else {
      self.init(.hits(try search.hits(in: json, from: selection.from, count: limits.hits)), view: .tree)
      return
    }
    let result = try search.hits(in: json, from: number - 1, count: 1)
    guard let hit = result.hits.first else { throw HTTPProblem.noSuchHit(count: result.count) }
    let container = try json.place(at: hit.path.tokens.dropLast()) ?? json.root
    self.init(
      .outline(try JSONOutline(json, container, from: max(0, hit.index - limits.before))), view: .tree)
    self.hit = Hit(
      number: number, count: result.count, isCut: result.isCut, place: .value(hit.path, index: hit.index),
      excerpt: hit.excerpt)
  }

  /// Finds the value at a path that a user entered instead of a text.
  private static func place(at text: String, in json: JSONView) throws(ViewerError) -> JSONPlace? {
    guard !text.isEmpty, let tokens = JSONPath.tokens(ofPointer: text) ?? JSONPath.tokens(ofPath: text) else {
      return nil
    }
    return try json.place(at: tokens)
  }

  // MARK: - Other contents

  private init(text: TextView, _ selection: FileSelection, _ limits: Limits) throws {
    guard !selection.find.isEmpty else {
      self.init(.text(try text.lines(from: selection.from), count: text.lineCount), view: .text)
      return
    }
    guard let pattern = TextPattern.of(selection.find) else {
      self.init(
        .matches([], count: 0, isCut: false), view: .text,
        remark: "Lines of text have no types, keys and paths, so that this query finds nothing in them.")
      return
    }
    guard let number = selection.hit else {
      let found = try text.matches(of: pattern, from: selection.from, count: limits.hits)
      self.init(.matches(found.matches, count: found.count, isCut: found.isCut), view: .text)
      return
    }
    let found = try text.matches(of: pattern, from: number - 1, count: 1)
    guard let match = found.matches.first else { throw HTTPProblem.noSuchHit(count: found.count) }
    let lines = try text.lines(from: max(0, match.line - limits.before), marking: pattern)
    self.init(.text(lines, count: text.lineCount), view: .text)
    hit = Hit(
      number: number, count: found.count, isCut: found.isCut, place: .line(match.line), excerpt: match.excerpt
    )
  }

  private init(bytes file: ViewedFile, _ selection: FileSelection, _ limits: Limits) throws {
    let start = selection.from / 16 * 16
    let bytes = try file.bytes.read(upTo: limits.bytes, at: start)
    let rows = stride(from: 0, to: bytes.count, by: 16).map { Array(bytes[$0..<min($0 + 16, bytes.count)]) }
    self.init(.hex(rows, count: file.bytes.size), view: .hex)
  }
}

extension HTTPProblem {
  /// 400: the text to find has fewer matches.
  fileprivate static func noSuchHit(count: Int) -> HTTPProblem {
    .badRequest("There are only \(Measures.count(count, "hit")).")
  }
}

extension ViewedText {
  /// What the page says about the encoding and the end of the text.
  fileprivate var remarks: [String] {
    var remarks: [String] = []
    if let encoding {
      remarks.append("The file is in \(encoding.name), \(encoding.isBigEndian ? "big" : "little")-endian.")
    }
    if !padding.isEmpty {
      let count = Measures.count(padding.count, "NUL byte")
      remarks.append("It ends with \(count), from byte \(padding.lowerBound) on, which are not shown.")
    }
    return remarks
  }
}

extension ViewedFile {
  /// Why the file is not shown as text.
  fileprivate func textRemark(_ head: FileHead) throws(ViewerError) -> String? {
    switch text {
    case .invalid(let encoding, let offset):
      return "It is not valid \(encoding.name): at byte \(offset) there is no whole character."
    case .tooLarge(let encoding): return "It is in \(encoding.name), and too large to be shown as text."
    case .text(let text):
      guard let failure = head.textFailure else { return nil }
      return "It is not text: byte \(try text.offset(ofByte: failure.offset)) \(failure.reason)."
    case nil: return nil
    }
  }

  /// What the page says about the property list in the file.
  fileprivate var propertyListRemark: String? {
    switch propertyList {
    case .document(let document):
      let name = document.form == .binary ? "a binary property list" : "a property list in XML"
      let archive = "an archive of NSKeyedArchiver: an object with CF$UID stands for an element of $objects"
      return document.isKeyedArchive
        ? "This is \(name), and \(archive)." : "This is \(name), converted to JSON."
    case .invalid(.binary, let failure): return "It is not a valid binary property list: \(failure)."
    case .invalid(.xml, let failure): return "It is not a valid property list in XML: \(failure)."
    case .other, nil: return nil
    }
  }
}

extension FileSelection.View {
  /// The views of a file.
  fileprivate static func views(of file: ViewedFile, isText: Bool, isImage: Bool) -> [Self] {
    let views: [Self] =
      (isImage ? [.image] : []) + (file.document == nil ? [] : [.tree, .table, .formatted])
      + (isText ? [.text] : [])
    return views.isEmpty && file.propertyList == nil ? [] : views + [.hex]
  }

  /// Whether the view shows the file as it is.
  fileprivate var isOfBytes: Bool { self == .text || self == .hex }
}
