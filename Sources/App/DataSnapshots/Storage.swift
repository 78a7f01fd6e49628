import Foundation
import SnapshotFormat
import SystemIO

/// The layout of a ``SnapshotMode``'s folder.
///
///     mode.json                 the state and the UUID of the active snapshot's folder
///     recordings/<name>         the latest data of an identifier; the modification time is the recording time
///     recordings/<name>@<n>     the data of call number n, if a history is kept
///     exchanges/<name>          the HTTP exchange of a recording: a line of JSON, and the body of the request
///     identifiers/<name>        an identifier that is too long to be encoded in a file name
///     attachments/<name>        an attachment, whose name is encoded so that it differs from all others
///     redactions.json           the redaction rules that were applied to the files
///     dropped.json              what was not recorded, and why
///     journal/<n>               what was recorded and is not in a file of its own yet
///     <uuid>.staged             a recording or attachment that is being written
///     run.json                  when the run began that records, and when it ended
///     previous/                 the same files of the run before, as hard links
///     lock                      held by the instance that uses the folder
///     clock.json                the clock by which old recordings were removed
///     snapshots/<uuid>/         the active snapshot, unpacked
///     frozen/<uuid>/            links to recordings that are being packed
///
/// There is no index on the disk that could contradict the recordings: file names encode the identifiers.
struct Storage: Sendable {
  let folder: String

  var mode: String { folder + "/mode.json" }
  var recordings: String { folder + "/recordings" }
  var exchanges: String { folder + "/exchanges" }
  var identifiers: String { folder + "/identifiers" }
  var attachments: String { folder + "/attachments" }
  var redactions: String { folder + "/redactions.json" }
  var dropped: String { folder + "/dropped.json" }
  var journal: String { folder + "/journal" }
  var run: String { folder + "/run.json" }
  var previous: String { folder + "/previous" }
  var lock: String { folder + "/lock" }
  var clock: String { folder + "/clock.json" }
  var snapshots: String { folder + "/snapshots" }
  var frozen: String { folder + "/frozen" }

  /// A recording found in the folder.
  struct Recording {
    let identifier: String
    let name: RecordingName
    /// The size of all its files.
    let size: Int64
    let recordedAt: Date
  }

  /// Writes `data` as the recording `name` of `identifier` to a staged file, then renames it over the existing file.
  /// - Returns: whether the folders were missing and had to be created.
  func write(
    _ data: Data, as identifier: String, _ name: RecordingName, exchange: Data? = nil, at time: Date
  ) throws(SystemError) -> Bool {
    do {
      try writeIntoFolders(data, identifier, name, exchange, time)
      return false
    } catch  where error.isNotFound {
      // This is the first recording, or the folders were removed by others.
      try Folder.create(recordings)
      try Folder.create(identifiers)
      if exchange != nil { try Folder.create(exchanges) }
      try writeIntoFolders(data, identifier, name, exchange, time)
      return true
    }
  }

  private func writeIntoFolders(
    _ data: Data, _ identifier: String, _ name: RecordingName, _ exchange: Data?, _ time: Date
  ) throws(SystemError) {
    if name.identifier == nil, !Folder.isRegularFile(identifiers + "/\(name.stem)") {
      // Written first, so that a recording always has its identifier.
      try DurableFile.replace(identifiers + "/\(name.stem)", with: Array(identifier.utf8))
    }
    // Written first too. The journal repairs what a crash leaves between the two.
    if let exchange {
      try put(exchange, at: exchanges + "/\(name)", time)
    } else {
      try Folder.removeIfPresent(exchanges + "/\(name)")
    }
    try put(data, at: recordings + "/\(name)", time)
  }

  /// An attachment found in the folder.
  struct Attachment {
    let name: AttachmentName
    /// The path of its file.
    let path: String
  }

  /// Writes `data` as the attachment `name`.
  func write(_ data: Data, asAttachment name: AttachmentName, at time: Date) throws(SystemError) {
    try Folder.create(attachments)
    try put(data, at: attachments + "/" + name.file, time)
    // An earlier version stored the attachment in a file whose name was not encoded.
    for other in try Folder.entries(attachments)
    where other != name.file && AttachmentName(file: other) == name {
      try Folder.removeIfPresent(attachments + "/" + other)
    }
  }

  private func put(_ data: Data, at path: String, _ time: Date) throws(SystemError) {
    let staged = "\(folder)/\(SnapshotID()).staged"
    do {
      let file = try File(staged, .create(mode: 0o600))
      try unsafe data.withUnsafeBytes { bytes in
        Result { () throws(SystemError) in try unsafe file.write(bytes, at: 0) }
      }.get()
      try file.setModifiedAt(Int64((time.timeIntervalSince1970 * 1000).rounded()))
      try file.synchronize()
      try Folder.replace(path, with: staged)
    } catch {
      // The first error is thrown. The next launch removes the staged file.
      do { try Folder.removeIfPresent(staged) } catch {}
      throw error
    }
  }

  /// Returns the bytes of the recording `name`, or `nil` if there is none.
  func read(_ name: RecordingName) throws(SystemError) -> Data? {
    try contents(recordings + "/\(name)")
  }

  private func contents(_ path: String) throws(SystemError) -> Data? {
    do {
      let file = try File(path)
      return Data(try file.read(upTo: Int(file.size), at: 0))
    } catch  where error.isNotFound {
      return nil
    }
  }

  /// Returns the exchange of the recording `name`, or `nil` if there is none.
  func readExchange(_ name: RecordingName) throws(SystemError) -> Data? {
    try contents(exchanges + "/\(name)")
  }

  /// Removes the recording `name`. If `isLast`, also removes the file with its long identifier.
  func remove(_ name: RecordingName, isLast: Bool) throws(SystemError) {
    try Folder.removeIfPresent(recordings + "/\(name)")
    try Folder.removeIfPresent(exchanges + "/\(name)")
    if isLast, name.identifier == nil { try Folder.removeIfPresent(identifiers + "/\(name.stem)") }
  }

  /// Returns the attachments, sorted by their names.
  func listAttachments() throws(SystemError) -> [Attachment] {
    var found: [AttachmentName: Attachment] = [:]
    do {
      for file in try Folder.entries(attachments) {
        guard let name = AttachmentName(file: file), Folder.isRegularFile(attachments + "/" + file) else {
          continue
        }
        // A crash can leave the file of an earlier version beside the one that replaces it.
        if found[name] == nil || file == name.file {
          found[name] = Attachment(name: name, path: attachments + "/" + file)
        }
      }
    } catch  where error.isNotFound {}
    return found.values.sorted { $0.name.text < $1.name.text }
  }

  /// Returns all recordings, sorted by identifier and call. Calls `stray` with the name of each file that is not a
  /// recording.
  func list(stray: (String) -> Void) throws(SystemError) -> [Recording] {
    var found: [Recording] = []
    var exchanges: Set<String> = []
    do { exchanges = Set(try Folder.entries(self.exchanges)) } catch  where error.isNotFound {}
    do {
      for name in try Folder.entries(recordings) {
        guard let recording = try recording(named: name, hasExchange: exchanges.contains(name)) else {
          stray(name)
          continue
        }
        found.append(recording)
      }
    } catch  where error.isNotFound {}
    return found.sorted { ($0.identifier, $0.name.call ?? 0) < ($1.identifier, $1.name.call ?? 0) }
  }

  private func recording(
    named fileName: String, hasExchange: Bool
  ) throws(SystemError) -> Recording? {
    guard let name = RecordingName(fileName: fileName), Folder.isRegularFile(recordings + "/" + fileName)
    else { return nil }
    var identifier = name.identifier
    if identifier == nil { identifier = try longIdentifier(name) }
    guard let identifier else { return nil }
    let file = try File(recordings + "/" + fileName)
    let exchangeSize = hasExchange ? try File(exchanges + "/" + fileName).size : 0
    return Recording(
      identifier: identifier, name: name, size: try file.size + exchangeSize,
      recordedAt: Date(timeIntervalSince1970: Double(try file.modifiedAt) / 1000))
  }

  private func longIdentifier(_ name: RecordingName) throws(SystemError) -> String? {
    guard Folder.isRegularFile(identifiers + "/\(name.stem)") else { return nil }
    let file = try File(identifiers + "/\(name.stem)")
    let bytes = try file.read(upTo: Manifest.Limits.default.identifierLength, at: 0)
    let identifier = String(decoding: bytes, as: UTF8.self)
    return RecordingName(identifier).description == name.stem ? identifier : nil
  }

  /// Removes all recordings and attachments.
  func removeRecordings() throws(SystemError) {
    try Folder.removeTree(recordings)
    try Folder.removeTree(exchanges)
    try Folder.removeTree(identifiers)
    try Folder.removeTree(attachments)
    try Folder.removeIfPresent(redactions)
    try Folder.removeIfPresent(clock)
  }
}
