import Foundation
import SnapshotFormat
import SystemIO

/// What lies where in the folder of a ``SnapshotMode``.
///
///     mode.json                 the state, and which snapshot is active
///     recordings/<name>         the latest data under an identifier; its time is when it was recorded
///     recordings/<name>@<n>     the same for the call with the number n, where a history is kept
///     identifiers/<name>        the identifiers that are too long for a name to spell
///     attachments/<name>        what goes along with the recordings
///     redactions.json           which rules ran over what is here
///     recording.staged          a recording or an attachment on its way
///     snapshots/<uuid>/         the active snapshot, unpacked
///     frozen/<uuid>/            recordings that are being made into a snapshot
///
/// There is no index that could disagree with the recordings: their names spell their identifiers.
struct Storage: Sendable {
  let folder: String

  var mode: String { folder + "/mode.json" }
  var recordings: String { folder + "/recordings" }
  var identifiers: String { folder + "/identifiers" }
  var attachments: String { folder + "/attachments" }
  var redactions: String { folder + "/redactions.json" }
  var staged: String { folder + "/recording.staged" }
  var snapshots: String { folder + "/snapshots" }
  var frozen: String { folder + "/frozen" }

  /// A recording as it lies in the folder.
  struct Recording {
    let identifier: String
    let name: RecordingName
    let size: Int64
    let recordedAt: Date
  }

  /// Writes `data` as the recording `name` of `identifier`: beside its place, then renamed over what is there.
  /// - Returns: whether the folders were missing, and were made.
  func write(
    _ data: Data, as identifier: String, _ name: RecordingName, at time: Date
  ) throws(SystemError) -> Bool {
    do {
      try writeIntoFolders(data, identifier, name, time)
      return false
    } catch  where error.isNotFound {
      // The first recording; or somebody removed the folders.
      try Folder.create(recordings)
      try Folder.create(identifiers)
      try writeIntoFolders(data, identifier, name, time)
      return true
    }
  }

  private func writeIntoFolders(
    _ data: Data, _ identifier: String, _ name: RecordingName, _ time: Date
  ) throws(SystemError) {
    if name.identifier == nil, !Folder.isRegularFile(identifiers + "/\(name.stem)") {
      // First, so that no recording is ever without its identifier.
      try DurableFile.replace(identifiers + "/\(name.stem)", with: Array(identifier.utf8))
    }
    try put(data, at: recordings + "/\(name)", time)
  }

  /// Writes `data` as the attachment `name`.
  func write(_ data: Data, asAttachment name: String, at time: Date) throws(SystemError) {
    try Folder.create(attachments)
    // On a disk that tells no upper case from lower, a name replaces the one that differs in this alone.
    for other in try Folder.entries(attachments)
    where other.lowercased() == name.lowercased() && other != name {
      try Folder.removeIfPresent(attachments + "/" + other)
    }
    try put(data, at: attachments + "/" + name, time)
  }

  private func put(_ data: Data, at path: String, _ time: Date) throws(SystemError) {
    try Folder.removeIfPresent(staged)
    do {
      let file = try File(staged, .create(mode: 0o600))
      try unsafe data.withUnsafeBytes { bytes in
        Result { () throws(SystemError) in try unsafe file.write(bytes, at: 0) }
      }.get()
      try file.setModifiedAt(Int64((time.timeIntervalSince1970 * 1000).rounded()))
      try file.synchronize()
      try Folder.replace(path, with: staged)
    } catch {
      // The first failure is the one to tell; what is left over goes with the next recording.
      do { try Folder.removeIfPresent(staged) } catch {}
      throw error
    }
  }

  /// The bytes of the recording `name`; `nil` where there is none.
  func read(_ name: RecordingName) throws(SystemError) -> Data? {
    do {
      let file = try File(recordings + "/\(name)")
      return Data(try file.read(upTo: Int(file.size), at: 0))
    } catch  where error.isNotFound {
      return nil
    }
  }

  /// Removes the recording `name`; with `isLast` the note of its identifier too.
  func remove(_ name: RecordingName, isLast: Bool) throws(SystemError) {
    try Folder.removeIfPresent(recordings + "/\(name)")
    if isLast, name.identifier == nil { try Folder.removeIfPresent(identifiers + "/\(name.stem)") }
  }

  /// The names in `attachments`, sorted.
  func listAttachments() throws(SystemError) -> [String] {
    do {
      return try Folder.entries(attachments).filter {
        AttachmentName.isValid($0) && Folder.isRegularFile(attachments + "/" + $0)
      }
    } catch  where error.isNotFound {
      return []
    }
  }

  /// Everything that is recorded, by identifier and call; `stray` is told the names of files that are no recordings.
  func list(stray: (String) -> Void) throws(SystemError) -> [Recording] {
    var found: [Recording] = []
    do {
      for name in try Folder.entries(recordings) {
        guard let recording = try recording(named: name) else {
          stray(name)
          continue
        }
        found.append(recording)
      }
    } catch  where error.isNotFound {}
    return found.sorted { ($0.identifier, $0.name.call ?? 0) < ($1.identifier, $1.name.call ?? 0) }
  }

  private func recording(named fileName: String) throws(SystemError) -> Recording? {
    guard let name = RecordingName(fileName: fileName), Folder.isRegularFile(recordings + "/" + fileName)
    else { return nil }
    var identifier = name.identifier
    if identifier == nil { identifier = try longIdentifier(name) }
    guard let identifier else { return nil }
    let file = try File(recordings + "/" + fileName)
    return Recording(
      identifier: identifier, name: name, size: try file.size,
      recordedAt: Date(timeIntervalSince1970: Double(try file.modifiedAt) / 1000))
  }

  private func longIdentifier(_ name: RecordingName) throws(SystemError) -> String? {
    guard Folder.isRegularFile(identifiers + "/\(name.stem)") else { return nil }
    let file = try File(identifiers + "/\(name.stem)")
    let bytes = try file.read(upTo: Manifest.Limits.default.identifierLength, at: 0)
    let identifier = String(decoding: bytes, as: UTF8.self)
    return RecordingName(identifier).description == name.stem ? identifier : nil
  }

  /// Removes every recording and every attachment.
  func removeRecordings() throws(SystemError) {
    try Folder.removeTree(recordings)
    try Folder.removeTree(identifiers)
    try Folder.removeTree(attachments)
    try Folder.removeIfPresent(redactions)
  }
}
