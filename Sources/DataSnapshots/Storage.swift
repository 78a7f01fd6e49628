import Foundation
import SnapshotFormat
import SystemIO

/// What lies where in the folder of a ``SnapshotMode``.
///
///     mode.json                 the state, and which snapshot is active
///     recordings/<name>         the latest data under each identifier; its time is when it was recorded
///     identifiers/<name>        the identifiers that are too long for a name to spell
///     recording.staged          a recording on its way
///     snapshots/<uuid>/         the active snapshot, unpacked
///     frozen/<uuid>/            recordings that are being made into a snapshot
///
/// There is no index that could disagree with the recordings: their names spell their identifiers.
struct Storage: Sendable {
  let folder: String

  var mode: String { folder + "/mode.json" }
  var recordings: String { folder + "/recordings" }
  var identifiers: String { folder + "/identifiers" }
  var staged: String { folder + "/recording.staged" }
  var snapshots: String { folder + "/snapshots" }
  var frozen: String { folder + "/frozen" }

  /// A recording as it lies in the folder.
  struct Recording {
    let identifier: String
    let name: RecordingName
    let recordedAt: Date
  }

  /// Writes `data` under `identifier`: beside its place, then renamed over what is there.
  func write(_ data: Data, as identifier: String, at time: Date) throws(SystemError) {
    do {
      try writeIntoFolders(data, identifier, time)
    } catch  where error.isNotFound {
      // The first recording; or somebody removed the folders.
      try Folder.create(recordings)
      try Folder.create(identifiers)
      try writeIntoFolders(data, identifier, time)
    }
  }

  private func writeIntoFolders(_ data: Data, _ identifier: String, _ time: Date) throws(SystemError) {
    let name = RecordingName(identifier)
    if name.identifier == nil, !Folder.isRegularFile(identifiers + "/\(name)") {
      // First, so that no recording is ever without its identifier.
      try DurableFile.replace(identifiers + "/\(name)", with: Array(identifier.utf8))
    }
    try Folder.removeIfPresent(staged)
    do {
      let file = try File(staged, .create(mode: 0o600))
      try unsafe data.withUnsafeBytes { bytes in
        Result { () throws(SystemError) in try unsafe file.write(bytes, at: 0) }
      }.get()
      try file.setModifiedAt(Int64((time.timeIntervalSince1970 * 1000).rounded()))
      try file.synchronize()
      try Folder.replace(recordings + "/\(name)", with: staged)
    } catch {
      // The first failure is the one to tell; what is left over goes with the next recording.
      do { try Folder.removeIfPresent(staged) } catch {}
      throw error
    }
  }

  /// What is recorded under `identifier`; `nil` where nothing is.
  func read(_ identifier: String) throws(SystemError) -> Data? {
    do {
      let file = try File(recordings + "/\(RecordingName(identifier))")
      return Data(try file.read(upTo: Int(file.size), at: 0))
    } catch  where error.isNotFound {
      return nil
    }
  }

  /// Everything that is recorded, by identifier; `stray` is told the names of files that are no recordings.
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
    return found.sorted { $0.identifier < $1.identifier }
  }

  private func recording(named fileName: String) throws(SystemError) -> Recording? {
    guard let name = RecordingName(fileName: fileName), Folder.isRegularFile(recordings + "/" + fileName)
    else { return nil }
    var identifier = name.identifier
    if identifier == nil { identifier = try longIdentifier(name) }
    guard let identifier else { return nil }
    let time = try File(recordings + "/" + fileName).modifiedAt
    return Recording(
      identifier: identifier, name: name, recordedAt: Date(timeIntervalSince1970: Double(time) / 1000))
  }

  private func longIdentifier(_ name: RecordingName) throws(SystemError) -> String? {
    guard Folder.isRegularFile(identifiers + "/\(name)") else { return nil }
    let file = try File(identifiers + "/\(name)")
    let bytes = try file.read(upTo: Manifest.Limits.default.identifierLength, at: 0)
    let identifier = String(decoding: bytes, as: UTF8.self)
    return RecordingName(identifier) == name ? identifier : nil
  }

  /// Removes every recording.
  func removeRecordings() throws(SystemError) {
    try Folder.removeTree(recordings)
    try Folder.removeTree(identifiers)
  }
}
