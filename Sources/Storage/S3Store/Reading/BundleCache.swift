import Dispatch
import Foundation
import S3Client
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Reads bundles into files, and keeps those that were read recently. The files have no names, so the system removes
/// them once they are neither kept nor read, also after a crash, and the folder can be deleted at any time. Thread-safe.
final class BundleCache: Sendable {
  private enum Source {
    case kept(File)
    case running(ArrivingFile)
  }

  private struct State {
    var files: LRUCache<String, File>
    /// Several readers of the same bundle share a download.
    var running: [String: ArrivingFile] = [:]
  }

  private let client: S3Client
  private let folder: String
  private let onRead: @Sendable (CacheRead) -> Void
  private let queues: QueueSet
  private let state: Lock<State>

  /// - Parameters:
  ///   - folder: the folder in which files are created.
  ///   - queues: read the files.
  ///   - limit: the maximum size of the files that are kept, in bytes.
  ///   - onRead: called for every read.
  init(
    client: S3Client, folder: String, on queues: QueueSet, limit: Int,
    onRead: @escaping @Sendable (CacheRead) -> Void
  ) {
    self.client = client
    self.onRead = onRead
    self.queues = queues
    self.folder = folder
    state = Lock(State(files: LRUCache(limit: limit)))
  }

  /// The contents of an object that never changes; `nil` if there is none.
  func file(_ key: String) async throws(StoreError) -> File? {
    switch source(key) {
    case .kept(let file): return file
    case .running(let arriving): return try await arriving.outcome.get()
    }
  }

  /// The contents of an object that never changes, if they are kept.
  func keptFile(_ key: String) -> File? {
    let file = state.withLock { $0.files.value(of: key) }
    if file != nil { onRead(.hit) }
    return file
  }

  /// The bytes of a range of an object that never changes, to be sent while they arrive. A short range is read by itself;
  /// otherwise the whole object is read, and kept.
  /// - Parameter size: the length of the object.
  func pieces(_ range: Range<Int64>, of key: String, size: Int64) -> ArrivingPieces {
    ArrivingPieces(range) { [self] in
      guard range.count <= min(S3StoreLimits.rangeBytes, size / 2) else { return reader(key) }
      onRead(.miss)
      return { [client] piece async throws(StoreError) in
        do throws(S3Error) { return [UInt8](try await client.get(key, range: piece)) } catch {
          throw error.isNotFound || error.isBeyondEnd ? .damaged : StoreError(error)
        }
      }
    }
  }

  /// Reads ranges of an object, which is read completely meanwhile.
  private func reader(_ key: String) -> ArrivingPieces.Reader {
    let source = source(key)
    let queue = queues.next
    return { piece async throws(StoreError) in
      switch source {
      case .kept(let file): try await file.read(piece, on: queue)
      case .running(let arriving): try await arriving.read(piece, on: queue)
      }
    }
  }

  private func source(_ key: String) -> Source {
    let (source, isNew) = state.withLock { state -> (Source, Bool) in
      if let file = state.files.value(of: key) { return (.kept(file), false) }
      if let running = state.running[key] { return (.running(running), false) }
      let arriving = ArrivingFile()
      state.running[key] = arriving
      return (.running(arriving), true)
    }
    if case .running(let arriving) = source {
      onRead(.miss)
      // The task is not a part of the caller's: others may wait for it when the caller is cancelled.
      if isNew { Task { await fill(arriving, with: key) } }
    } else {
      onRead(.hit)
    }
    return source
  }

  /// The contents of an object as the store has them now; `nil` if there is none.
  func download(_ key: String) async throws(StoreError) -> File? {
    try await read(key, into: ArrivingFile())
  }

  private func fill(_ arriving: ArrivingFile, with key: String) async {
    let outcome: ArrivingFile.Outcome
    do { outcome = .success(try await read(key, into: arriving)) } catch {
      outcome = .failure(error)
    }
    // Those who wait for the end find the file in the cache.
    keep(outcome, key)
    arriving.end(outcome)
  }

  private func read(_ key: String, into arriving: ArrivingFile) async throws(StoreError) -> File? {
    let path = "\(folder)/\(SnapshotID()).download"
    let file = try await queues.next.perform { [folder] () throws(StoreError) in
      return try StoreError.disk { () throws(SystemError) in
        try Folder.create(folder)
        return try File(path, .openOrCreate(mode: 0o600))
      }
    }
    arriving.begin(file)
    let failure: S3Error?
    do {
      _ = try await client.download(key, to: URL(filePath: path))
      failure = nil
    } catch {
      failure = error
    }
    try await queues.next.perform { () throws(StoreError) in
      try StoreError.disk { () throws(SystemError) in try Folder.removeIfPresent(path) }
    }
    guard let failure else { return file }
    guard failure.isNotFound else { throw StoreError(failure) }
    return nil
  }

  /// Drops the contents of an object that was deleted.
  func forget(_ key: String) { state.withLock { $0.files.remove(key) } }

  /// Drops all contents that are kept. Those that are being read leave when they have been.
  func removeAll() { state.withLock { $0.files.removeAll() } }

  private func keep(_ outcome: ArrivingFile.Outcome, _ key: String) {
    var size: Int64 = 0
    // A file whose size can't be read is not kept.
    do { size = try outcome.get()?.size ?? 0 } catch { size = .max }
    state.withLock { state in
      state.running[key] = nil
      guard case .success(let file?) = outcome, let cost = Int(exactly: size) else { return }
      state.files.keep(file, under: key, cost: max(cost, S3StoreLimits.cachedBundleBytes))
    }
  }
}

/// Where a bundle was when it was read.
package enum CacheRead: String, Sendable, CaseIterable {
  /// In the cache.
  case hit
  /// In the object store.
  case miss
}
