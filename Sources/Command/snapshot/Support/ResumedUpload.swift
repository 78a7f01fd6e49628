import Foundation
import SnapshotFormat
import SystemIO

/// The state of an upload that a later run can continue, in the folder `SOURCE.upload` beside the source. The folder is
/// removed when the upload is complete.
struct ResumedUpload {
  /// The file with the state of the upload on the server.
  let state: URL
  /// The uploaded bundle: the source if it is a bundle, or else what was packed from it when the upload began.
  let bundle: (url: URL, manifest: Manifest)
  private let folder: String

  /// Packs `source` with the user's words, and seals it, unless an earlier run has already done so.
  init(of source: String, _ words: UserWords, _ seal: SealOptions) throws(CommandFailure) {
    var path = URL(filePath: source).path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    let folder = path + ".upload"
    self.folder = folder
    state = URL(filePath: folder + "/upload.json")
    // Until it has the packed bundle, an interruption removes the folder.
    defer { TemporaryPaths.forget(folder) }
    do {
      if try !Folder.exists(folder) {
        try TemporaryPaths.create(folder) { () throws(SystemError) in try Folder.create(folder) }
      }
    } catch {
      throw CommandFailure("Cannot store the state of the upload in \(folder): \(error)")
    }
    do {
      bundle = try Self.bundle(of: SnapshotSource(source), words, seal, in: folder)
    } catch {
      // Fails unless the folder is empty, so it removes no state.
      do { try Folder.remove(folder) } catch {}
      throw error
    }
  }

  /// Removes the folder.
  func finish() {
    do { try Folder.removeTree(folder) } catch { Console.message("Cannot remove \(folder): \(error)") }
  }

  private static func bundle(
    of source: SnapshotSource, _ words: UserWords, _ seal: SealOptions, in folder: String
  ) throws(CommandFailure) -> (url: URL, manifest: Manifest) {
    let (whole, staged) = (folder + "/bundle.zip", folder + "/staged.zip")
    if case .bundle = source, seal.isEmpty { return try source.packed(to: URL(filePath: whole)) }
    if Folder.isRegularFile(whole) {
      Console.message("Continuing with the bundle packed earlier, \(whole).")
      return try SnapshotSource(whole).packed(to: URL(filePath: whole))
    }
    do { try Folder.removeIfPresent(staged) } catch { throw CommandFailure("\(error)") }
    let manifest = try source.packed(to: URL(filePath: staged), words, seal).manifest
    do { try Folder.replace(whole, with: staged) } catch {
      throw CommandFailure("\(error)")
    }
    return (URL(filePath: whole), manifest)
  }
}
