import SnapshotFormat
import SystemIO

/// A file that is written beside its place. It is locked as long as it is being written, so that others can tell it
/// from one that was abandoned.
struct StagedFile {
  let name: String
  let file: File
  private let folder: OpenFolder

  /// Makes an empty file of a new name in `folder`.
  init(in folder: OpenFolder, mode: UInt16) throws(SystemError) {
    self.folder = folder
    while true {
      let name = StagedName.make()
      let file = try folder.file(name, .create(mode: mode))
      // Between the two calls somebody may have taken it for abandoned.
      if try file.tryLock(), try folder.status(name) != nil {
        self.name = name
        self.file = file
        return
      }
    }
  }

  /// Gives it its name in one step.
  func publish(as final: String) throws(SystemError) {
    // The lock is held to the end.
    try withExtendedLifetime(file) { () throws(SystemError) in try folder.replace(final, with: name) }
  }

  /// Removes it after a failure, which is the one to tell; a second one adds nothing to it.
  func discard() { do { try folder.remove(name) } catch {} }

  /// Removes the file `name` of this kind unless somebody is writing it.
  static func removeAbandoned(_ name: String, in folder: OpenFolder) throws(SystemError) {
    do throws(SystemError) {
      guard try folder.status(name)?.kind == .file, try folder.file(name).tryLock() else { return }
      try folder.remove(name)
    } catch  where error.isNotFound {
      // It has got its name meanwhile.
    }
  }
}
