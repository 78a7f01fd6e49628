public import Foundation
public import SnapshotFormat
import SystemIO

/// The data of an app's container, to be put in place before the app looks at it: out of an `.xcappdata` bundle, as
/// Xcode saves it from a device, or out of a snapshot that was attached to a bug report.
///
/// All calls block: call them at the launch, before anything reads a file or a default.
///
///     try AppData.preload(bundle, into: .homeDirectory, when: .debugBuild && .fastlaneSnapshot)
public struct AppData: Sendable {
  /// The folders and files, sorted by the bytes of their paths.
  public var entries: [ContainerEntry] { tree.entries }
  /// What is in the source and is never copied: Finder's `.DS_Store`, the system's note of whose container it is
  /// (`.com.apple.mobile_container_manager.metadata.plist`), and what a copy that was killed left behind.
  public var passedOver: [String] { tree.passedOver }

  let tree: ContainerTree

  /// The extension of the bundles that Xcode saves.
  public static let bundleExtension = "xcappdata"

  /// Opens what lies at `url` and lists it: an `.xcappdata` bundle, or any folder that holds a folder `AppData`; a
  /// snapshot's zip, whose structure is checked; or a snapshot's folder.
  ///
  /// Links, devices, names that are not UTF-8, and whatever is over a limit, are refused here.
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
    tree = try ContainerTree(folder, limits: limits)
  }

  /// Copies everything into the container at `container`, which is made if it is missing.
  ///
  /// First the source and the destination are looked at, and nothing is written if something is in the way: a link
  /// (never followed, never replaced), a folder where a file has to go, a file where a folder has to. Then missing
  /// folders are made, and files are written beside their places and renamed: whoever looks, or kills the process,
  /// finds each file old or new, never half; one that stood there before survives a power cut as well. Files that
  /// are the same already are left alone, and so is everything that the source does not have. An error in the
  /// middle names the file; those before it are in place.
  ///
  /// A file keeps the permissions of the one that it replaces; whether the owner may run it comes from the source.
  @discardableResult
  public func copy(into container: URL) throws(AppDataError) -> PreloadReport {
    try tree.checkIsOutside(container.path)
    let root = try AppDataError.disk("") { () throws(SystemError) in
      try Folder.create(container.path)
      return try OpenFolder(container.path)
    }
    return try ContainerCopy(tree, to: root).run()
  }

  /// Copies what lies at `source` into the container at `container` if `condition` holds, else does nothing and says
  /// so. `source` is asked for only then, since a product for users does not hold it.
  /// - Throws: ``AppDataError``; where the condition holds and `source` is `nil` it is `notAppData`.
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
