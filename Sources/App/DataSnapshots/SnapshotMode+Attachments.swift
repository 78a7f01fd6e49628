public import Foundation
import SystemIO

extension SnapshotMode {
  /// Puts `data` beside the recordings, for the next snapshots: a screenshot, a log, the state of a repository. It stays
  /// until another comes under the same name, or ``clear()``.
  ///
  /// Never throws and never waits for the disk, whatever the ``state`` is. Rules of redaction run over it; their
  /// identifier is `attachments/` and the name. What goes wrong is told to ``Configuration/onEvent``.
  /// - Parameter name: 1 to 100 ASCII letters, digits, and ` ._-+=,()@`, with no space or dot at its ends, such as
  ///   `screenshot.png`. Another is refused. Upper and lower case make no difference.
  public func attach(name: String, data: Data) {
    guard AttachmentName.isValid(name) else {
      return configuration.onEvent(
        .init(.recordingRefused, identifier: "attachments/" + name, "an attachment can't have this name"))
    }
    recorder.attach(data, as: name)
  }

  /// What is attached to the active snapshot: files by their names below `attachments/`, to be read only. They go with
  /// the snapshot.
  public var activeAttachments: [String: URL] {
    guard let active = withCore({ $0.active }) else { return [:] }
    let folder = active.folder + "/attachments"
    var files: [String: URL] = [:]
    do throws(SystemError) {
      for name in try Folder.entries(folder) where Folder.isRegularFile(folder + "/" + name) {
        files[name] = URL(filePath: folder + "/" + name)
      }
    } catch {
      if !error.isNotFound { configuration.onEvent(.init(.replayFailed, "\(error)")) }
    }
    return files
  }
}
