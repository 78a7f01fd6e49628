import Foundation
import SystemIO

/// Finds what patterns mean, and follows no links below its root.
struct FileSearch {
  let root: String
  /// Regular files by path, with their lengths.
  private(set) var files: [String: Int64] = [:]
  /// Folders that patterns name, and those in them.
  private(set) var folders: Set<String> = []
  /// What can't be looked at.
  private(set) var failures: [String: String] = [:]

  init(root: String) { self.root = root }

  /// Finds what `components` mean below `path`, which is relative to the root.
  mutating func expand(_ components: ArraySlice<String>, isFolder: Bool, below path: String) {
    guard let component = components.first else { return }
    let rest = components.dropFirst()
    for name in entries(path) where FilePattern.matches(name, component) {
      let child = path.isEmpty ? name : "\(path)/\(name)"
      if !rest.isEmpty {
        if Folder.isFolder(absolute(child)) { expand(rest, isFolder: isFolder, below: child) }
      } else if isFolder {
        if Folder.isFolder(absolute(child)) { takeFolder(child) }
      } else {
        takeFile(child)
      }
    }
  }

  private mutating func takeFolder(_ path: String) {
    folders.insert(path)
    for name in entries(path) {
      let child = "\(path)/\(name)"
      if Folder.isFolder(absolute(child)) { takeFolder(child) } else { takeFile(child) }
    }
  }

  private mutating func takeFile(_ path: String) {
    guard Folder.isRegularFile(absolute(path)) else { return }
    do {
      let size = try FileManager.default.attributesOfItem(atPath: absolute(path))[.size] as? NSNumber
      files[path] = size?.int64Value ?? 0
    } catch {
      failures[path] = "\(error)"
    }
  }

  private mutating func entries(_ path: String) -> [String] {
    do {
      return try Folder.entries(absolute(path))
    } catch  where error.isNotFound {
      return []
    } catch {
      failures[path.isEmpty ? "." : path] = "\(error)"
      return []
    }
  }

  private func absolute(_ path: String) -> String { path.isEmpty ? root : "\(root)/\(path)" }
}
