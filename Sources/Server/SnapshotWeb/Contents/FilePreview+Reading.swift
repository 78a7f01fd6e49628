import JSONText
import SnapshotAPI
package import SnapshotFormat

extension FilePreview {
  /// Limits for reading and displaying a file.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of bytes of JSON to read.
    package var bytes: Int64 = 8 << 20
    /// The approximate maximum number of bytes of the file in the page.
    package var pageLength = 42_000
    /// The maximum number of lines.
    package var lines = PageLimits.lines
    /// The maximum nesting depth of JSON to show.
    package var depth = 32
    /// The maximum number of members of an object to show.
    package var members = 200
    /// The maximum number of elements of an array to show.
    package var elements = 50
    /// The maximum size of a string or a line of text, in bytes.
    package var textLength = 400
    /// The maximum number of bytes of a file to show that is neither text nor an image.
    package var hexLength = 4096

    /// Creates limits with the default values.
    package init() {}

    /// The default limits.
    package static let `default` = Limits()
  }

  /// Creates a preview of a file in a bundle. Detects the file's type from its first bytes, not from its name. Blocks
  /// for the disk.
  ///
  /// Uses a fixed amount of memory, and time for at most ``Limits/bytes``, for any contents.
  ///
  /// - Parameter path: the file's path in the bundle.
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
        self.init(head, limits: limits, remark: head.claimsJSON ? "It is not valid JSON: \(failure)." : nil)
      } else if outline.lines.isEmpty {
        // A single string or number whose end is not within the limits.
        self.init(head, limits: limits, remark: nil)
      } else {
        self.init(.json(outline.lines), cut: outline.cut)
      }
    } else {
      self.init(head, limits: limits, remark: nil)
    }
  }

  /// Creates a preview of a file that is neither JSON nor an image.
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
        .hex(rows), cut: isCut ? "The page shows the first \(bytes.count) of \(head.size) bytes." : nil)
    }
  }
}
