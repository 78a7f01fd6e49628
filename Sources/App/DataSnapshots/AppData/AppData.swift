public import Foundation
public import SnapshotFormat
import SystemIO

/// The data of an app's container, which can be copied into place before the app reads it. The source is an
/// `.xcappdata` bundle, as Xcode downloads it from a device, or a snapshot that is attached to a bug report.
///
/// All methods block: call them at launch, before anything reads a file or a default.
///
///     try AppData.preload(bundle, into: .homeDirectory, when: .debugBuild && .fastlaneSnapshot)
public struct AppData: Sendable {
  /// The folders and files, sorted by the bytes of their paths.
  public var entries: [ContainerEntry] { tree.entries }
  /// The items in the source that are never copied: Finder's `.DS_Store`, the system's container metadata
  /// (`.com.apple.mobile_container_manager.metadata.plist`), and temporary files of an interrupted copy.
  public var passedOver: [String] { tree.passedOver }

  let tree: ContainerTree

  /// The extension of the bundles that Xcode downloads.
  public static let bundleExtension = "xcappdata"

  /// Opens the source at `url` and lists its contents. The source is an `.xcappdata` bundle or another folder that
  /// contains a folder `AppData`, a snapshot's zip, whose structure is validated, or a snapshot's folder.
  ///
  /// Throws if the source contains links, devices or names that are not UTF-8, or exceeds a limit.
  public init(contentsOf url: URL, limits: ContainerLimits = .default) throws(AppDataError) {
    let path = url.resolvingSymlinksInPath().path
    if Folder.isRegularFile(path) {
      tree = try ContainerTree(snapshot: url, limits: limits)
      return
    }
    guard Folder.isFolder(path) else { throw .notAppData(url.path) }
    let bundle = try AppDataError.disk("") { () throws(SystemError) in try OpenFolder(path) }
    let isSnapshot = Folder.isRegularFile(path + "/manifest.json")
    let name = isSnapshot ? "app-data" : "AppData"
    let folder: OpenFolder
    do {
      folder = try bundle.folder(name)
    } catch  where error.isNotFound {
      throw isSnapshot ? .noContainer(url.path) : .notAppData(url.path)
    } catch {
      throw .notAppData(url.path)
    }
    if isSnapshot {
      do { _ = try SnapshotBundle.validate(folder: url) } catch { throw .snapshot(error) }
    }
    tree = try ContainerTree(folder, limits: limits, isOfSnapshot: isSnapshot)
  }

  /// Copies all folders and files into the container at `container`, which is created if it is missing.
  ///
  /// The source and the destination are checked first. Nothing is written if there is a conflict: a link (links are
  /// never followed or replaced), a folder at the path of a file, or a file at the path of a folder. Then missing
  /// folders are created, and each file is written to a temporary file in the same folder and renamed. A reader, even
  /// after a crash, gets the old or the new file, never a partial one; the replacement of an existing file is also safe
  /// against a power failure. Unchanged files, and files that are not in the source, are not touched. If an error
  /// occurs during the copy, it contains the path of the file; the files before it are already in place.
  ///
  /// A replaced file keeps its permissions, except that the source determines whether it is executable.
  @discardableResult
  public func copy(into container: URL) throws(AppDataError) -> PreloadReport {
    try tree.checkIsOutside(container.path)
    let root = try AppDataError.disk("") { () throws(SystemError) in
      try Folder.create(container.path)
      return try OpenFolder(container.path)
    }
    return try ContainerCopy(tree, to: root).run()
  }

  /// Copies the data at `source` into the container at `container` if `condition` is true, and otherwise does nothing.
  /// `source` is evaluated only if the condition is true, because release builds do not contain it.
  /// - Throws: ``/SnapshotFormat/AppDataError``; `notAppData` if the condition is true and `source` is `nil`.
  @discardableResult
  public static func preload(
    _ source: @autoclosure () -> URL?, into container: URL, when condition: PreloadCondition,
    launch: PreloadCondition.Launch = .current
  ) throws(AppDataError) -> Preloading {
    guard condition.holds(for: launch) else { return .skipped(unless: condition.description) }
    guard let source = source() else { throw .notAppData("") }
    return .copied(try AppData(contentsOf: source).copy(into: container))
  }
}
