import ZipArchive

/// Checks the recordings of a manifest, by themselves and against each other, as they come by: no two share an
/// identifier (unless the numbers of their calls differ) or a path. Keeps hashes alone, not what they are of, which may
/// be as large as all of the manifest.
struct RecordingCheck {
  /// How many have come.
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

  /// Says what was wrong with the first that something is wrong with.
  func finish() throws(BundleError) {
    if let problem { throw .manifestMalformed(problem) }
  }

  private mutating func check(_ recording: Manifest.Recording) -> String? {
    let length = recording.identifier.utf8.count
    if length > limits.identifierLength {
      return "identifier: it has \(length) bytes, the most are \(limits.identifierLength)"
    }
    if let call = recording.call, !(1...RecordingName.maximumCall).contains(call) {
      return "call: \(call) is not a number from 1 to \(RecordingName.maximumCall)"
    }
    if !calls.mark(recording.callHash) {
      return "identifier: ‘\(recording.identifier.prefix(200))’ is there twice"
    }
    if !recording.hasValidPath {
      return "path: ‘\(recording.path.prefix(200))’ is not recordings/ and a file name in ASCII"
    }
    if !paths.mark(recording.path.lowercased().hashValue) {
      return "path: ‘\(recording.path)’ is there twice, or differs from another in upper and lower case alone"
    }
    return recording.size < 0 ? "size: it is less than nothing" : nil
  }
}

extension Manifest.Recording {
  fileprivate var callHash: Int {
    var hasher = Hasher()
    hasher.combine(identifier)
    hasher.combine(call)
    return hasher.finalize()
  }

  /// Whether the path is one file name below `recordings/`; in ASCII, as other text has several spellings that some
  /// disks take for one.
  fileprivate var hasValidPath: Bool {
    guard path.hasPrefix(BundleLayout.recordings) else { return false }
    let name = path.utf8.dropFirst(BundleLayout.recordings.utf8.count)
    let isPrintable = name.allSatisfy {
      (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\")
    }
    return isPrintable && (1...255).contains(name.count) && ![".", ".."].contains(String(name))
  }
}
