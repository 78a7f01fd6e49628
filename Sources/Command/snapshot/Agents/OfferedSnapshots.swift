import Foundation
import SnapshotClient
import SnapshotFormat
import SnapshotViewer
import SystemIO

/// The snapshots that agents can open: those of one server, and the files and folders that the user offers.
///
/// The last ones stay open, so that several calls download a bundle once, and index a large file once.
actor OfferedSnapshots {
  /// The maximum number of snapshots that stay open.
  static let mostOpen = 4
  /// The maximum number of offered files that are listed, and of levels of folders in which they are looked for.
  static let mostListed = 200
  static let mostLevels = 4

  /// A snapshot that stays open.
  final class Opened: Sendable {
    let snapshot: OpenSnapshot
    let files: SearchedSource
    /// The bundle or the folder.
    let source: SnapshotSource
    /// Whether it is on the server.
    let isOnServer: Bool
    /// Distinguishes it from others, also of the same snapshot.
    fileprivate let identity = UUID().uuidString
    /// Keeps the downloaded bundle, and what was sealed in it.
    private let scratch: ScratchFolder

    fileprivate init(_ source: SnapshotSource, _ scratch: ScratchFolder, isOnServer: Bool) throws {
      (self.source, self.scratch, self.isOnServer) = (source, scratch, isOnServer)
      snapshot = try source.open()
      files = SearchedSource(snapshot)
    }
  }

  private enum Key: Hashable {
    case server(SnapshotID)
    /// A file, and when it was changed.
    case file(String, Int64)
  }

  private let options: ReadingOptions
  /// The offered files and folders as the user named them, and where they are.
  private let offers: [(name: String, path: String)]
  private var opened: [(key: Key, value: Opened)] = []
  private let scratch: ScratchFolder
  private let viewed: ViewerCache

  /// - Parameter paths: the files and folders that are offered. Throws if there is none at one of them.
  init(_ options: ReadingOptions, _ paths: [String]) throws {
    self.options = options
    offers = try paths.map { path throws(CommandFailure) in
      do { return (path, try Self.realPath(path)) } catch {
        throw CommandFailure("There is no file or folder at \(path).", status: .refused)
      }
    }
    scratch = try ScratchFolder()
    viewed = ViewerCache(CopySpace(folder: scratch.url.path))
  }

  /// A client of the server, which does not repeat requests, because an agent waits. Throws if there are only files.
  nonisolated func client() throws -> SnapshotAPIClient {
    guard hasServer else {
      throw ToolFailure("No server is named; only the files that find_snapshots lists without arguments.")
    }
    return try options.server.client { $0.retries.attempts = 1 }
  }

  /// Whether there is a server. If files are offered, it must be named.
  nonisolated var hasServer: Bool { offers.isEmpty || options.server.isServerNamed }

  /// Whether files are offered.
  nonisolated var offersFiles: Bool { !offers.isEmpty }

  /// Opens the snapshot that `text` names.
  func open(_ text: String) async throws -> Opened {
    if let path = try offeredPath(text) {
      let manifest = Folder.isFolder(path) ? path + "/manifest.json" : path
      let time: Int64
      do { time = try File(manifest).modifiedNanoseconds } catch {
        throw ToolFailure("There is no snapshot at this path.")
      }
      return try kept(.file(path, time)) {
        try makeOpened(SnapshotSource(path), in: ScratchFolder(), isOnServer: false)
      }
    }
    // An address could send the token, or what an injected text wants to tell, to another server.
    guard !text.contains("://") else {
      throw ToolFailure("Addresses are not opened; pass the UUID of a snapshot on the server.")
    }
    let name: SnapshotName
    do { name = try SnapshotName(text) } catch {
      throw ToolFailure(
        "This is neither a UUID, six digits of its beginning, a report, nor a path below what is offered.")
    }
    guard hasServer else { throw ToolFailure("No server is named, and there is no file at this path.") }
    let (reference, client) = try await options.server.resolve(name)
    if let known = recent(.server(reference.id)) { return known }
    let scratch = try ScratchFolder()
    let zip = scratch.file("bundle.zip")
    _ = try await client.fetch(reference, to: zip)
    return try kept(.server(reference.id)) { try makeOpened(.bundle(zip), in: scratch, isOnServer: true) }
  }

  /// Opens a snapshot, also one that is sealed to an identity of this user.
  private func makeOpened(
    _ source: SnapshotSource, in scratch: ScratchFolder, isOnServer: Bool
  ) throws -> Opened {
    try Opened(options.unsealed(source, in: scratch), scratch, isOnServer: isOnServer)
  }

  /// Makes a file of a snapshot readable at any place.
  func view(_ file: SearchedSource.File, of opened: Opened) throws -> ViewedFile {
    let key = ViewerCache.Key(bundle: opened.identity, path: file.path)
    let space = viewed.space
    return try viewed.file(key) {
      try ViewedFile(reading: ViewedBytes(file.copy(in: scratch)), in: space)
    }
  }

  // MARK: - Open snapshots

  private func recent(_ key: Key) -> Opened? {
    guard let index = opened.firstIndex(where: { $0.key == key }) else { return nil }
    let entry = opened.remove(at: index)
    opened.append(entry)
    return entry.value
  }

  private func kept(_ key: Key, make: () throws -> Opened) throws -> Opened {
    if let known = recent(key) { return known }
    let made = try make()
    opened.append((key, made))
    if opened.count > Self.mostOpen { opened.removeFirst() }
    return made
  }

  // MARK: - Offered files

  /// The path of an existing file or folder that `text` names, if it is offered.
  private func offeredPath(_ text: String) throws -> String? {
    guard !offers.isEmpty, SnapshotID(text) == nil, !text.contains("://"), !text.utf8.contains(0) else {
      return nil
    }
    let path: String
    do { path = try Self.realPath(text) } catch { return nil }
    guard offers.contains(where: { path == $0.path || path.hasPrefix($0.path + "/") }) else {
      throw ToolFailure("This file is not below a file or folder that the user offers.")
    }
    return path
  }

  /// The bundles and snapshots' folders among the offered files, with the names by which they are opened.
  nonisolated func offered() -> (paths: [String], isCut: Bool) {
    var found: [String] = []
    var isCut = false
    func add(_ path: String, _ level: Int) {
      guard found.count < Self.mostListed else { return isCut = true }
      guard Folder.isFolder(path) else {
        if path.lowercased().hasSuffix(".zip") || level == 0 { found.append(path) }
        return
      }
      if Folder.isRegularFile(path + "/manifest.json") { return found.append(path) }
      guard level < Self.mostLevels else { return isCut = true }
      do {
        for (name, kind) in try Folder.kinds(in: path).sorted(by: { $0.name < $1.name })
        where (kind == .file || kind == .folder) && !name.hasPrefix(".") {
          add((path.hasSuffix("/") ? path : path + "/") + name, level + 1)
        }
      } catch {
        Console.error("\(error)")
      }
    }
    for offer in offers { add(offer.name, 0) }
    return (found, isCut)
  }

  /// The path without links.
  private static func realPath(_ path: String) throws -> String {
    guard !path.isEmpty, FileManager.default.fileExists(atPath: path) else {
      throw CommandFailure("There is no file or folder at \(path).", status: .refused)
    }
    return URL(filePath: path).standardizedFileURL.resolvingSymlinksInPath().path
  }
}
