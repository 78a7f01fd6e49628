public import Foundation
public import SnapshotFormat
import SystemIO

/// An `.xcappdata` bundle that a build phase copies into an app's product or removes from it.
///
/// The embedded bundle is an exact copy of the source. A build without changes writes nothing.
public struct AppDataEmbedding: Sendable {
  /// The result of an update.
  public enum Outcome: Sendable, Hashable {
    /// The bundle is in the product.
    case embedded(PreloadReport)
    /// The product contained the bundle of an earlier build, which was removed.
    case removed
    /// The product did not contain the bundle.
    case absent
  }

  /// The source bundle.
  public let bundle: URL
  /// The folder of resources in the product.
  public let resources: URL
  /// The path of the bundle in the product.
  public var destination: URL { resources.appending(path: bundle.lastPathComponent) }

  /// Creates an embedding. Returns `nil` if the bundle's name does not end in `.xcappdata`, so that no other folder can
  /// be removed.
  public init?(bundle: URL, resources: URL) {
    guard bundle.pathExtension == AppData.bundleExtension,
      !bundle.deletingPathExtension().lastPathComponent.isEmpty
    else { return nil }
    self.bundle = bundle
    self.resources = resources
  }

  /// Copies the bundle into the product, or removes the copy of an earlier build. For a removal, the source bundle does
  /// not have to exist.
  public func update(isWanted: Bool, limits: ContainerLimits = .default) throws(AppDataError) -> Outcome {
    isWanted ? .embedded(try embed(limits)) : try remove()
  }

  private func embed(_ limits: ContainerLimits) throws(AppDataError) -> PreloadReport {
    // Finds a bundle that can't be preloaded at build time instead of at launch.
    _ = try AppData(contentsOf: bundle, limits: limits)
    let name = bundle.lastPathComponent
    let source = try AppDataError.disk("") { () throws(SystemError) in try OpenFolder(bundle.path) }
    let tree = try ContainerTree(source, limits: limits)
    try tree.checkIsOutside(resources.path)
    let product = try AppDataError.disk("") { () throws(SystemError) in
      try Folder.create(resources.path, mode: 0o755)
      return try OpenFolder(resources.path)
    }
    let isThere = try AppDataError.disk(name) { () throws(SystemError) in
      let status = try product.status(name)
      if let status, status.kind != .folder { try product.removeTree(name) }
      return status?.kind == .folder
    }
    let copy = try AppDataError.disk(name) { () throws(SystemError) in
      if !isThere { try product.create(folder: name, mode: 0o755) }
      return try product.folder(name)
    }
    let removed = try Pruning(tree).run(in: copy)
    var report = try ContainerCopy(tree, to: copy).run()
    report.removed = removed
    return report
  }

  private func remove() throws(AppDataError) -> Outcome {
    let name = bundle.lastPathComponent
    return try AppDataError.disk(name) { () throws(SystemError) in
      guard Folder.isFolder(resources.resolvingSymlinksInPath().path) else { return .absent }
      let product = try OpenFolder(resources.path)
      guard try product.status(name) != nil else { return .absent }
      try product.removeTree(name)
      return .removed
    }
  }
}

/// Removes items of an earlier copy that are not in the source, or are of another kind there.
private struct Pruning {
  /// Keyed by the bytes of the paths: on Linux, two different paths can be equal as Swift strings.
  private let isFolder: [[UInt8]: Bool]

  init(_ tree: ContainerTree) {
    isFolder = Dictionary(uniqueKeysWithValues: tree.entries.map { (Array($0.path.utf8), $0.isFolder) })
  }

  func run(in folder: OpenFolder, _ prefix: String = "") throws(AppDataError) -> [String] {
    var removed: [String] = []
    let names = try AppDataError.disk(prefix) { () throws(SystemError) in try folder.entries() }
    for name in names {
      let path = prefix + name
      let kind = try AppDataError.disk(path) { () throws(SystemError) in try folder.status(name)?.kind }
      switch (kind, isFolder[Array(path.utf8)]) {
      case (.folder, true):
        let child = try AppDataError.disk(path) { () throws(SystemError) in try folder.folder(name) }
        removed += try run(in: child, path + "/")
      case (.file, false), (nil, _): break
      default:
        try AppDataError.disk(path) { () throws(SystemError) in try folder.removeTree(name) }
        removed.append(path)
      }
    }
    return removed
  }
}
