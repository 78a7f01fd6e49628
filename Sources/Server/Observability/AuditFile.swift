import SystemIO

/// The file that audit events are appended to, and those before it.
///
/// - Invariant: used on one serial queue alone, and made before it runs. That is what makes `@unchecked Sendable` true.
final class AuditFile: @unchecked Sendable {
  private let path: String
  private let configuration: AuditLog.Configuration
  private var file: File
  private var identity: FileIdentity
  /// Whether the last line has its end.
  private var isWhole: Bool
  /// Whether lines were written since the last flush, and whether one is on its way.
  private var needsFlush = false
  private var isFlushing = false

  init(_ path: String, _ configuration: AuditLog.Configuration) throws(SystemError) {
    self.path = path
    self.configuration = configuration
    (file, identity, isWhole) = try Self.open(path)
  }

  private static func open(
    _ path: String
  ) throws(SystemError) -> (file: File, identity: FileIdentity, isWhole: Bool) {
    let file = try File(path, .append(mode: 0o600))
    try file.setMode(0o600)
    try Folder.synchronize(Folder.parent(of: path))
    let size = try file.size
    let last = try file.read(upTo: 1, at: max(size - 1, 0))
    return (file, try file.identity, last.isEmpty || last == [UInt8(ascii: "\n")])
  }

  /// Appends whole lines, in one write where they fit into one file together.
  func append(_ lines: [[UInt8]]) throws(SystemError) {
    guard !lines.isEmpty else { return }
    var size = try sizeInPlace()
    var together: [UInt8] = []
    for line in lines {
      if size + Int64(together.count + line.count) > configuration.fileBytes, size > 0 || !together.isEmpty {
        try write(together)
        together = []
        try rotate()
        size = try file.size
      }
      together += line
    }
    try write(together)
  }

  /// The length of the file under the path: another one, or a new one, from here on where it was moved or removed.
  private func sizeInPlace() throws(SystemError) -> Int64 {
    if let found = try Folder.file(at: path), found.identity == identity { return found.size }
    (file, identity, isWhole) = try Self.open(path)
    return try file.size
  }

  private func write(_ bytes: [UInt8]) throws(SystemError) {
    guard !bytes.isEmpty else { return }
    // A write that broke off, now or before a crash, left a part of a line: it ends here, so that it harms no other.
    let broken = !isWhole
    isWhole = false
    needsFlush = true
    try file.append(broken ? [UInt8(ascii: "\n")] + bytes : bytes)
    isWhole = true
  }

  /// Gives every file the next number, and begins a new one.
  private func rotate() throws(SystemError) {
    try file.synchronize()
    func older(_ number: Int) -> String { "\(path).\(number)" }
    let kept = max(configuration.keptFiles, 1)
    try Folder.removeIfPresent(older(kept))
    for number in stride(from: kept - 1, through: 1, by: -1) where try Folder.exists(older(number)) {
      try Folder.replace(older(number + 1), with: older(number))
    }
    try Folder.replace(older(1), with: path)
    (file, identity, isWhole) = try Self.open(path)
  }

  /// - Returns: whether a flush is to be begun: something was written since the last, and none is on its way.
  func beginFlush() -> Bool {
    guard needsFlush, !isFlushing else { return false }
    isFlushing = true
    return true
  }

  /// The file, where it holds lines that are not flushed; they count as flushed from now on.
  func takeUnflushed() -> File? {
    isFlushing = false
    defer { needsFlush = false }
    return needsFlush ? file : nil
  }

  /// Lines are not flushed after all.
  func failedToFlush() { needsFlush = true }
}
