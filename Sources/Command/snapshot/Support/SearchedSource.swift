import DataSnapshots
import Dispatch
import Foundation
import SnapshotFormat
import SnapshotViewer
import SystemIO

/// The files of a command's argument that can be searched: those of a snapshot, or any others.
struct SearchedSource: Sendable {
  /// A file.
  struct File: Sendable {
    /// The path in the snapshot or in the folder.
    let path: String
    /// The identifier of a recording, otherwise the name that the user gave.
    let name: String
    /// The number of the call, if a history is kept.
    var call: Int?
    let size: Int64
    /// Opens the file for reading.
    let open: @Sendable () throws -> () throws -> [UInt8]?
  }

  /// The UUID of the snapshot, or the path of what is none.
  let name: String
  let files: [File]

  /// The files of a snapshot.
  init(_ snapshot: OpenSnapshot) {
    name = snapshot.manifest.id.description
    let recordings = Dictionary(snapshot.manifest.recordings.map { ($0.path, $0) }) { first, _ in first }
    files = snapshot.members.map { member in
      let recording = recordings[member.name]
      return File(
        path: member.name, name: recording?.identifier ?? member.originalName, call: recording?.call,
        size: member.size
      ) {
        let next = try snapshot.pieces(of: member.name)
        return { try next() }
      }
    }
  }

  /// The files of any source.
  init(_ source: SnapshotSource) throws(CommandFailure) {
    switch source {
    case .bundle, .snapshotFolder: self.init(try source.open())
    case .plainFile(let url):
      self.init(name: url.relativePath, files: [try Self.file(url, named: url.lastPathComponent)])
    case .appData(let url), .plainFolder(let url):
      var files: [File] = []
      do {
        try Self.forEachFile(in: url.path, "") { path in
          files.append(try Self.file(url.appending(path: path), named: path))
        }
      } catch let failure as CommandFailure {
        throw failure
      } catch {
        throw CommandFailure("\(error)")
      }
      self.init(name: url.relativePath, files: files)
    }
  }

  private init(name: String, files: [File]) { (self.name, self.files) = (name, files) }

  private static func file(_ url: URL, named name: String) throws(CommandFailure) -> File {
    do {
      let size = try Folder.size(of: url.path)
      return File(path: name, name: name, size: size) {
        let file = try SystemIO.File(url.path)
        var offset: Int64 = 0
        return {
          let piece = try file.read(upTo: 1 << 17, at: offset)
          offset += Int64(piece.count)
          return piece.isEmpty ? nil : piece
        }
      }
    } catch {
      throw CommandFailure("\(error)")
    }
  }

  /// Calls `body` with the path of each file in the folder, in order. Follows no links.
  private static func forEachFile(
    in folder: String, _ prefix: String, _ body: (String) throws -> Void
  ) throws {
    for name in try Folder.entries(folder).sorted() {
      let path = folder + "/" + name
      switch try Folder.kind(of: path) {
      case .folder: try forEachFile(in: path, prefix + name + "/", body)
      case .file: try body(prefix + name)
      default: break
      }
    }
  }
}

extension SearchedSource.File {
  /// Copies the contents into a file without a name, which can be read at any place.
  func copy(in scratch: ScratchFolder) throws -> SystemIO.File {
    let copy = try SystemIO.File(temporaryIn: scratch.url.path)
    let next = try open()
    var size: Int64 = 0
    while let piece = try next() {
      try copy.write(piece, at: size)
      size += Int64(piece.count)
    }
    return copy
  }
}

extension SearchedSource {
  /// Finds the recording with this identifier, or the attachment or other file with this name.
  /// - Parameter call: the number of the call; the last one if `nil`.
  func file(named wanted: String, call: Int?) throws(CommandFailure) -> File {
    let folders = ["", "attachments/", "app-data/"]
    let named = files.filter { file in
      file.name == wanted || folders.contains { file.path == $0 + wanted || file.name == $0 + wanted }
    }
    // A recording comes before a file of the same name.
    let calls = named.filter { $0.name == wanted && $0.path.hasPrefix("recordings/") }
    let candidates = calls.isEmpty ? named : calls
    if let call {
      guard let file = candidates.first(where: { $0.call == call }) else {
        throw CommandFailure("The snapshot has no call \(call) of ‘\(wanted)’.", status: .refused)
      }
      return file
    }
    if let file = candidates.max(by: { ($0.call ?? 0) < ($1.call ?? 0) }) { return file }
    let nearest = NearestIdentifiers.find(wanted, among: files.map(\.name)).first
    let mend = nearest.map { "did you mean ‘\($0)’?" } ?? "`snapshot inspect` lists what it has."
    throw CommandFailure("The snapshot has no recording or file ‘\(wanted)’; \(mend)", status: .refused)
  }

  /// Searches all files, several at a time. Those with a rare value come first.
  /// - Returns: what was found, and the names of files that are too large to be searched.
  func results(of search: ContentSearch) throws(CommandFailure) -> (found: [FoundFile], tooLarge: [String]) {
    let outcomes = Lock<[Int: Result<ContentSearch.Outcome, any Error>]>([:])
    DispatchQueue.concurrentPerform(iterations: files.count) { index in
      let file = files[index]
      let outcome = Result { try search.search(size: file.size, file.open) }
      if case .success(.searched(let findings)) = outcome, findings.isEmpty { return }
      outcomes.withLock { $0[index] = outcome }
    }
    var found: [(rarity: Double, file: FoundFile)] = []
    var large: [String] = []
    for (index, outcome) in outcomes.value.sorted(by: { $0.key < $1.key }) {
      let file = files[index]
      switch outcome {
      case .success(.searched(let findings)), .success(.unfinished(let findings, _)):
        found.append((findings.rarity, FoundFile(findings, in: file, of: self)))
      case .success(.tooLarge): large.append(file.name)
      case .success(.binary): break
      case .failure(let error): throw CommandFailure("\(file.name): \(error)", status: .refused)
      }
    }
    let ordered = found.enumerated().sorted {
      ($0.element.rarity, $0.offset) < ($1.element.rarity, $1.offset)
    }
    return (ordered.map(\.element.file), large)
  }
}
