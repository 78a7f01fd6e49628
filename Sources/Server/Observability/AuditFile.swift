import SystemIO

/// The file to which audit events are appended, and its predecessors.
struct AuditFile: Sendable {
  private let path: String
  private let configuration: AuditLog.Configuration
  private var file: File
  private var identity: FileIdentity
  /// Whether the last line is complete.
  private var isWhole: Bool
  /// Whether lines were written since the last flush, and whether a flush is running.
  private var needsFlush = false
  /// Whether the name of the file may not be durable. It is flushed with the first lines.
  private var hasNewName = true
  private var isFlushing = false

  init(_ path: String, _ configuration: AuditLog.Configuration) throws(SystemError) {
    self.path = path
    self.configuration = configuration
    (file, identity, isWhole) = try Self.open(path)
    try file.reserve(configuration.reservedBytes)
  }

  private static func open(
    _ path: String
  ) throws(SystemError) -> (file: File, identity: FileIdentity, isWhole: Bool) {
    let file = try File(path, .append(mode: 0o600))
    try file.setMode(0o600)
    let size = try file.size
    let last = try file.read(upTo: 1, at: max(size - 1, 0))
    return (file, try file.identity, last.isEmpty || last == [UInt8(ascii: "\n")])
  }

  /// Appends complete lines. Uses one write if they fit into one file.
  mutating func append(_ lines: [[UInt8]]) throws(SystemError) {
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

  /// Returns the size of the file at the path. If the file was moved or deleted, opens or creates the one at the path
  /// first.
  private mutating func sizeInPlace() throws(SystemError) -> Int64 {
    if let found = try Folder.file(at: path), found.identity == identity { return found.size }
    (file, identity, isWhole) = try Self.open(path)
    hasNewName = true
    return try file.size
  }

  private mutating func write(_ bytes: [UInt8]) throws(SystemError) {
    guard !bytes.isEmpty else { return }
    // A failed write, now or before a crash, can leave a partial line. The line end separates it from the next line.
    let broken = !isWhole
    isWhole = false
    needsFlush = true
    try file.append(broken ? [UInt8(ascii: "\n")] + bytes : bytes)
    isWhole = true
  }

  /// Renames every file to the next number and creates a new file.
  private mutating func rotate() throws(SystemError) {
    try file.synchronize()
    func older(_ number: Int) -> String { "\(path).\(number)" }
    let kept = max(configuration.keptFiles, 1)
    try Folder.removeIfPresent(older(kept))
    for number in stride(from: kept - 1, through: 1, by: -1) where try Folder.exists(older(number)) {
      try Folder.replace(older(number + 1), with: older(number))
    }
    try Folder.replace(older(1), with: path)
    (file, identity, isWhole) = try Self.open(path)
    hasNewName = true
  }

  /// - Returns: whether to start a flush: lines were written since the last one, and no flush is running.
  mutating func beginFlush() -> Bool {
    guard needsFlush, !isFlushing else { return false }
    isFlushing = true
    return true
  }

  /// What makes the written lines durable.
  struct Unflushed: Sendable {
    let file: File
    /// The folder of the file, if its name may not be durable.
    let folder: String?
    fileprivate let reservedBytes: Int64

    /// Blocks.
    func flush() throws(SystemError) {
      try file.synchronize()
      if let folder { try Folder.synchronize(folder) }
      try file.reserve(reservedBytes)
    }
  }

  /// Returns the unflushed lines, and marks them as flushed; `nil` if there are none.
  mutating func takeUnflushed() -> Unflushed? {
    isFlushing = false
    guard needsFlush else { return nil }
    defer { (needsFlush, hasNewName) = (false, false) }
    return Unflushed(
      file: file, folder: hasNewName ? Folder.parent(of: path) : nil,
      reservedBytes: configuration.reservedBytes)
  }

  /// Marks the lines as unflushed, because the flush failed.
  mutating func failedToFlush() { (needsFlush, hasNewName) = (true, true) }
}

extension File {
  /// Reserves disk space for the next `count` bytes that are appended. On a full disk, what was reserved before remains.
  /// Blocks.
  fileprivate func reserve(_ count: Int64) throws(SystemError) {
    guard count > 0 else { return }
    do {
      let size = try size
      try reserve(size..<size + count)
    } catch  where error.isOutOfSpace {}
  }
}
