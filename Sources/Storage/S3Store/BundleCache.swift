import Foundation
import S3Client
import SnapshotFormat
import SnapshotStore
import Synchronization
import SystemIO

/// Reads bundles into files, and keeps those that were read recently. The files have no names, so the system removes
/// them once they are neither kept nor read, also after a crash, and the folder can be deleted at any time. Thread-safe.
final class BundleCache: Sendable {
  /// `nil` if the store does not have the bytes.
  private typealias Download = Task<Result<File?, StoreError>, Never>

  private enum Source {
    case kept(File)
    case running(Download)
  }

  private struct State {
    var files: LRUCache<String, File>
    /// Several readers of the same bundle share a download.
    var running: [String: Download] = [:]
  }

  private let client: S3Client
  private let folder: String
  private let onRead: @Sendable (CacheRead) -> Void
  private let queues = QueueSet("s3-store.reader", count: 2)
  private let state: Mutex<State>

  /// - Parameters:
  ///   - folder: the folder in which files are created.
  ///   - limit: the maximum size of the files that are kept, in bytes.
  ///   - onRead: called for every read.
  init(
    client: S3Client, folder: String, limit: Int, onRead: @escaping @Sendable (CacheRead) -> Void
  ) {
    self.client = client
    self.onRead = onRead
    self.folder = folder
    state = Mutex(State(files: LRUCache(limit: limit)))
  }

  /// The contents of an object that never changes; `nil` if there is none.
  func file(_ key: String) async throws(StoreError) -> File? {
    let source = state.withLock { state -> Source in
      if let file = state.files.value(of: key) { return .kept(file) }
      if let running = state.running[key] { return .running(running) }
      // The task is not a part of the caller's: others may wait for it when the caller is cancelled.
      let task = Download { [self] in
        let result: Result<File?, StoreError>
        do throws(StoreError) { result = .success(try await download(key)) } catch {
          result = .failure(error)
        }
        keep(result, key)
        return result
      }
      state.running[key] = task
      return .running(task)
    }
    switch source {
    case .kept(let file):
      onRead(.hit)
      return file
    case .running(let task):
      onRead(.miss)
      return try await task.value.get()
    }
  }

  /// The contents of an object as the store has them now; `nil` if there is none.
  func download(_ key: String) async throws(StoreError) -> File? {
    let path = "\(folder)/\(SnapshotID()).download"
    try await queues.next.perform { [folder] () throws(StoreError) in
      do throws(SystemError) { try Folder.create(folder) } catch { throw StoreError(error) }
    }
    let failure: S3Error?
    do throws(S3Error) {
      _ = try await client.download(key, to: URL(filePath: path))
      failure = nil
    } catch {
      failure = error
    }
    return try await queues.next.perform { () throws(StoreError) in
      do throws(SystemError) {
        let file = failure == nil ? try File(path) : nil
        try Folder.removeIfPresent(path)
        if let file { return file }
      } catch {
        throw StoreError(error)
      }
      guard let failure, !failure.isNotFound else { return nil }
      throw StoreError(failure)
    }
  }

  /// Drops the contents of an object that was deleted.
  func forget(_ key: String) { state.withLock { $0.files.remove(key) } }

  private func keep(_ result: Result<File?, StoreError>, _ key: String) {
    var size: Int64 = 0
    // A file whose size can't be read is not kept.
    do { size = try result.get()?.size ?? 0 } catch { size = .max }
    state.withLock { state in
      state.running[key] = nil
      guard case .success(let file?) = result, let cost = Int(exactly: size) else { return }
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
