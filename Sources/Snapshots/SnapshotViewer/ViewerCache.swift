import Dispatch
package import SystemIO
package import ZipArchive

/// A file that is being viewed, with its index.
package struct ViewedFile: Sendable {
  /// The contents.
  package let bytes: ViewedBytes
  /// The outcome of reading it as text; `nil` if it was not tried.
  package let text: ViewedText.Outcome?
  /// The outcome of reading it as JSON; `nil` if it was not tried. For a property list, that of its document.
  package let json: JSONIndex.Outcome?
  /// The outcome of reading it as a property list; `nil` if it was not tried.
  package let propertyList: PropertyList.Outcome?

  /// Creates a viewed file from its parts.
  package init(
    bytes: ViewedBytes, text: ViewedText.Outcome? = nil, json: JSONIndex.Outcome?,
    propertyList: PropertyList.Outcome? = nil
  ) {
    (self.bytes, self.text, self.json, self.propertyList) = (bytes, text, json, propertyList)
  }

  /// The contents as text in UTF-8; the file's bytes if it is no text.
  package var contents: ViewedBytes {
    guard case .text(let text) = text else { return bytes }
    return text.bytes
  }

  /// The JSON document in the file, or the one made from the property list in it; `nil` if there is none.
  package var document: JSONView? {
    guard case .index(let index) = json else { return nil }
    guard case .document(let document) = propertyList else { return JSONView(contents, index) }
    return JSONView(document.bytes, index, hasTypes: true)
  }

  /// The number of bytes of its copies on the disk.
  var diskSize: Int { copies.reduce(0) { $0 + $1.diskSize } }

  /// Whether it can no longer be read, because the disk needed the space of its copies.
  var isLost: Bool { copies.contains(where: \.isLost) }

  private var copies: [ViewedBytes] {
    var copies = [bytes]
    if case .text(let text) = text, text.encoding != nil { copies.append(text.bytes) }
    if case .document(let document) = propertyList { copies.append(document.bytes) }
    return copies
  }
}

/// Keeps the files that were viewed last, so that only the first page of a file waits for inflating and indexing it.
/// Thread-safe.
package final class ViewerCache: Sendable {
  /// Limits of the cache.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of bytes of inflated copies on the disk.
    package var diskBytes = 1 << 30
    /// The maximum number of files.
    package var files = 4
    /// How long a file is kept after its last use, in seconds. A deleted snapshot's copies do not exist longer.
    package var seconds = 300

    /// Creates limits with the default values.
    package init() {}
  }

  /// What identifies a file.
  package struct Key: Hashable, Sendable {
    /// The digest of the bundle.
    package let bundle: String
    /// The path in the bundle.
    package let path: String
    /// The JSON Pointer to the string in the file whose decoded contents are the file; `nil` for the file itself.
    package let string: String?

    /// Creates a key.
    package init(bundle: String, path: String, string: String? = nil) {
      (self.bundle, self.path, self.string) = (bundle, path, string)
    }
  }

  private struct Entry {
    let file: ViewedFile
    var usedAt: ContinuousClock.Instant
  }

  /// The disk space of the copies.
  package let space: CopySpace
  private let limits: Limits
  private let entries = Lock<[Key: Entry]>([:])

  /// Creates a cache whose copies are in `space`.
  package init(_ space: CopySpace, limits: Limits = Limits()) { (self.space, self.limits) = (space, limits) }

  /// The contents of `entry` in the archive `file`, from the cache or made by `make`. Two callers of the same file may
  /// both make it.
  package func file(
    _ key: Key, _ entry: ZipEntry, of archive: File, make: (ViewedBytes) throws(ViewerError) -> ViewedFile
  ) throws(ViewerError) -> ViewedFile {
    try file(key) { () throws(ViewerError) in
      let bytes = try ViewedBytes(entry, of: archive, in: space)
      let file = try make(bytes)
      try bytes.complete()
      return file
    }
  }

  /// A file from the cache or made by `make`.
  package func file<Failure>(
    _ key: Key, make: () throws(Failure) -> ViewedFile
  ) throws(Failure) -> ViewedFile {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + .seconds(limits.seconds + 1)) {
      [weak self] in self?.removeUnused()
    }
    let known = entries.withLock { entries in
      entries[key]?.usedAt = .now
      return entries[key]?.file
    }
    if let known, !known.isLost { return known }
    let made = try make()
    entries.withLock { entries in
      entries[key] = Entry(file: made, usedAt: .now)
      while let oldest = entries.min(by: { $0.value.usedAt < $1.value.usedAt }), entries.count > 1,
        entries.count > limits.files
          || entries.values.reduce(0, { $0 + $1.file.diskSize }) > limits.diskBytes
      {
        entries[oldest.key] = nil
      }
    }
    return made
  }

  /// The number of files in the cache.
  package var count: Int { entries.withLock(\.count) }

  private func removeUnused() {
    let earliest = ContinuousClock.now - .seconds(limits.seconds)
    entries.withLock { entries in entries = entries.filter { $0.value.usedAt > earliest } }
  }
}
