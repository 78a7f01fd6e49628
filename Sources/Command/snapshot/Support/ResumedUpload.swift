import Foundation
import SnapshotFormat
import SystemIO

/// What is kept beside a source so that its upload can be gone on with by a later run: `SOURCE.upload/`, gone once the
/// upload is done.
struct ResumedUpload {
  /// Says where on the server the upload goes on.
  let state: URL
  /// What is uploaded: the source itself where it is a bundle, else what was packed of it when its upload began.
  let bundle: (url: URL, manifest: Manifest)
  private let folder: String

  /// Packs what `source` names, unless it is there from an earlier run.
  init(of source: String) throws(CommandFailure) {
    var path = URL(filePath: source).path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    folder = path + ".upload"
    state = URL(filePath: folder + "/upload.json")
    do throws(SystemError) { try Folder.create(folder) } catch {
      throw CommandFailure("What is needed to go on with the upload can't be kept in \(folder): \(error)")
    }
    do throws(CommandFailure) {
      bundle = try Self.bundle(of: SnapshotSource(source), in: folder)
    } catch {
      // Only what holds nothing.
      do { try Folder.remove(folder) } catch {}
      throw error
    }
  }

  /// Leaves nothing of it.
  func finish() {
    do { try Folder.removeTree(folder) } catch { Console.note("Left behind: \(folder) (\(error))") }
  }

  private static func bundle(
    of source: SnapshotSource, in folder: String
  ) throws(CommandFailure) -> (url: URL, manifest: Manifest) {
    let (whole, staged) = (folder + "/bundle.zip", folder + "/staged.zip")
    if case .bundle = source { return try source.packed(to: URL(filePath: whole)) }
    if Folder.isRegularFile(whole) {
      Console.note("Going on with what was packed into \(whole).")
      return try SnapshotSource(whole).packed(to: URL(filePath: whole))
    }
    do throws(SystemError) { try Folder.removeIfPresent(staged) } catch { throw CommandFailure("\(error)") }
    let manifest = try source.packed(to: URL(filePath: staged)).manifest
    do throws(SystemError) { try Folder.replace(whole, with: staged) } catch {
      throw CommandFailure("\(error)")
    }
    return (URL(filePath: whole), manifest)
  }
}
