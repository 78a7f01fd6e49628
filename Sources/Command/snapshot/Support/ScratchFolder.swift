import Foundation
import SystemIO

/// A place for something that is not to stay: the folder and all in it goes with the last reference.
final class ScratchFolder: Sendable {
  let url: URL
  private let keep: Bool

  /// Makes an empty folder; with `keep` it stays.
  init(keep: Bool = false) throws(CommandFailure) {
    self.keep = keep
    url = FileManager.default.temporaryDirectory.appending(path: "snapshot-\(UUID().uuidString)")
    do { try Folder.create(url.path) } catch {
      throw CommandFailure("No temporary folder can be made: \(error)")
    }
  }

  deinit {
    if keep { return }
    do { try Folder.removeTree(url.path) } catch { Console.note("Left behind: \(url.path) (\(error))") }
  }

  func file(_ name: String) -> URL { url.appending(path: name) }
}
