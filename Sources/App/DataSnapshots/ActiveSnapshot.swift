import Foundation
import Redaction
import SnapshotFormat
import SystemIO

/// What was recorded of one call.
struct ReplayedCall: Sendable {
  let data: Data
  /// The exchange whose response's body is `data`; `nil` for other data.
  let exchange: Manifest.Exchange?
  /// When the app had received it.
  let time: Date

  init(data: Data, exchange: Manifest.Exchange?, time: Date) {
    self.data = data
    self.exchange = exchange
    self.time = exchange?.endedAt ?? time
  }
}

/// An unpacked snapshot that is being replayed.
final class ActiveSnapshot: Sendable {
  /// The name of the unpacked folder, unique for each activation. It differs from the manifest's UUID.
  let id: SnapshotID
  let manifest: Manifest
  let folder: String
  /// The calls of each identifier, in the order in which they were recorded.
  private let recordings: [String: [Manifest.Recording]]
  private let removal: Lock<(@Sendable () -> Void)?> = Lock(nil)

  /// Creates a snapshot from the files unpacked in `folder`.
  init(id: SnapshotID, manifest: Manifest, folder: String) {
    self.id = id
    self.manifest = manifest
    self.folder = folder
    recordings = Dictionary(grouping: manifest.recordings, by: \.identifier)
      .mapValues { calls in calls.sorted { ($0.call ?? 0) < ($1.call ?? 0) } }
  }

  /// Reads the manifest of the snapshot unpacked in `folder`.
  convenience init(id: SnapshotID, in folder: String) throws(BundleError) {
    let json: [UInt8]
    do {
      json = try File(folder + "/manifest.json").read(upTo: Manifest.Limits.default.size + 1, at: 0)
    } catch {
      throw error.isNotFound ? .manifestMissing : .system(error)
    }
    self.init(id: id, manifest: try Manifest(json: Data(json)), folder: folder)
  }

  deinit {
    // Calls that began before the snapshot was replaced hold a reference to it, and read its files until they end.
    removal.withLock { $0 }?()
  }

  /// Sets the action that removes the folder. It runs when the last reader has released this object.
  func retire(_ remove: @escaping @Sendable () -> Void) { removal.withLock { $0 = remove } }

  /// All identifiers, in no particular order.
  var identifiers: [String] { Array(recordings.keys) }

  /// Returns the next call of `identifier` in `session`, after checking the size and digest of its bytes against the
  /// manifest. Looks up the identifier unchanged first, then as the redaction rules rewrite it.
  func call(
    of identifier: String, redactor: Redactor, in session: ReplaySession,
    _ afterLast: SnapshotMode.Policy.AfterLast
  ) throws(ReplayProblem) -> ReplayedCall {
    guard let calls = recordings[identifier] ?? recordings[redactor.redact(identifier: identifier)]
    else { throw .missing }
    let recording = calls[
      try session.next(identifier, of: calls.count, isHistory: calls.last?.call != nil, afterLast)]
    let data: Data
    do {
      let file = try File(folder + "/" + recording.path)
      let size = try file.size
      guard size == recording.size else {
        throw ReplayProblem.unreadable("it has \(size) bytes, but \(recording.size) were recorded")
      }
      data = Data(try file.read(upTo: Int(size), at: 0))
    } catch let error as ReplayProblem {
      throw error
    } catch {
      throw .unreadable("\(error)")
    }
    guard ContentDigest.of(data) == recording.sha256 else {
      throw .unreadable("its SHA-256 digest differs from the recorded one")
    }
    return ReplayedCall(data: data, exchange: recording.exchange, time: recording.recordedAt)
  }
}
