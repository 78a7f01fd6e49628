import ZipArchive

/// Checks the recordings of a manifest one after the other: their values, and that no two have the same identifier,
/// unless their call numbers differ, or the same path. Keeps only hashes, because the identifiers and paths can be as
/// large as the manifest.
struct RecordingCheck {
  /// The number of recordings checked.
  private(set) var count = 0

  private let limits: Manifest.Limits
  private var calls = HashTable()
  private var paths = HashTable()
  private var problem: String?

  init(_ limits: Manifest.Limits) { self.limits = limits }

  mutating func take(_ recording: Manifest.Recording) {
    if problem == nil { problem = check(recording).map { "recordings[\(count)].\($0)" } }
    count += 1
  }

  /// Throws the first error, if any.
  func finish() throws(BundleError) {
    if let problem { throw .manifestMalformed(problem) }
  }

  private mutating func check(_ recording: Manifest.Recording) -> String? {
    let length = recording.identifier.utf8.count
    if length > limits.identifierLength {
      return "identifier: it has \(length) bytes; the limit is \(limits.identifierLength)"
    }
    if let call = recording.call, !(1...RecordingName.maximumCall).contains(call) {
      return "call: \(call) is not a number from 1 to \(RecordingName.maximumCall)"
    }
    if !calls.mark(recording.callHash) {
      return "identifier: ‘\(recording.identifier.prefix(200))’ occurs twice"
    }
    if !recording.hasValidPath {
      return "path: ‘\(recording.path.prefix(200))’ is not recordings/ followed by a file name in ASCII"
    }
    if !paths.mark(recording.path.lowercased().hashValue) {
      return "path: ‘\(recording.path)’ occurs twice, or differs from another path only in letter case"
    }
    return recording.size < 0 ? "size: it is negative" : nil
  }
}

extension Manifest.Recording {
  fileprivate var callHash: Int {
    var hasher = Hasher()
    hasher.combine(identifier)
    hasher.combine(call)
    return hasher.finalize()
  }

  /// Whether the path is `recordings/` followed by a single file name in ASCII. Other characters have several encodings
  /// that some file systems treat as equal.
  fileprivate var hasValidPath: Bool {
    guard path.hasPrefix(BundleLayout.recordings) else { return false }
    let name = path.utf8.dropFirst(BundleLayout.recordings.utf8.count)
    let isPrintable = name.allSatisfy {
      (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
    }
    return isPrintable && (1...255).contains(name.count) && ![".", ".."].contains(String(name))
  }
}
