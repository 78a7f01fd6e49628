import JSONText
import SnapshotAPI
package import SnapshotFormat

extension FilePreview {
  /// How much of a file is read and shown.
  package struct Limits: Sendable, Hashable {
    /// The most bytes of JSON that are read.
    package var bytes: Int64 = 8 << 20
    /// About the most bytes that the file takes in the page.
    package var pageLength = 42_000
    /// The most lines.
    package var lines = PageLimits.lines
    /// The deepest nesting of JSON that is shown.
    package var depth = 32
    /// The most members of an object.
    package var members = 200
    /// The most elements of an array.
    package var elements = 50
    /// The most bytes of a string or a line of text.
    package var textLength = 400
    /// The most bytes of a file that is neither text nor a picture.
    package var hexLength = 4096

    /// The limits above.
    package init() {}

    /// The limits above.
    package static let `default` = Limits()
  }

  /// Looks at a file of a bundle, by its first bytes and not by what it is called. Blocks for the disk.
  ///
  /// Takes a fixed amount of memory, and time for ``Limits/bytes`` at most, whatever the file holds.
  /// - Parameter path: Where it lies in the bundle.
  package init(
    _ entry: CheckedBundle.Entry, path: String, limits: Limits = .default
  ) throws(BundleError) {
    let head = try FileHead(entry)
    if head.bytes.isEmpty {
      self.init(.empty)
    } else if head.image(at: path) {
      self.init(.image)
    } else if head.mayBeJSON {
      var outline = JSONOutline(limits: limits)
      if let failure = try outline.read(head) {
        self.init(head, limits: limits, remark: head.claimsJSON ? "It is no JSON: \(failure)." : nil)
      } else if outline.lines.isEmpty {
        // One string or number, of which not even the end was seen.
        self.init(head, limits: limits, remark: nil)
      } else {
        self.init(.json(outline.lines), cut: outline.cut)
      }
    } else {
      self.init(head, limits: limits, remark: nil)
    }
  }

  /// What is neither JSON nor a picture.
  private init(_ head: FileHead, limits: Limits, remark: String?) {
    if head.isText {
      let excerpt = TextExcerpt(head, limits: limits)
      let sentences = [remark, excerpt.cut].compactMap(\.self)
      self.init(.text(excerpt.lines), cut: sentences.isEmpty ? nil : sentences.joined(separator: " "))
    } else {
      let bytes = head.bytes.prefix(limits.hexLength)
      let rows = stride(from: 0, to: bytes.count, by: 16).map { Array(bytes[$0..<min($0 + 16, bytes.count)]) }
      let isCut = head.size > Int64(bytes.count)
      self.init(
        .hex(rows), cut: isCut ? "Shown are the first \(bytes.count) of \(head.size) bytes." : nil)
    }
  }
}
