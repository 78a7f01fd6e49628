import Foundation
import SnapshotFormat
import Synchronization
import SystemIO

/// An unpacked snapshot that is being replayed.
final class ActiveSnapshot: Sendable {
  /// The name of the folder, of its own for every activation.
  let id: SnapshotID
  let manifest: Manifest
  let folder: String
  /// The calls under each identifier, in their order.
  private let recordings: [String: [Manifest.Recording]]
  private let removal: Mutex<(@Sendable () -> Void)?> = Mutex(nil)

  /// The snapshot that lies unpacked in `folder`.
  init(id: SnapshotID, manifest: Manifest, folder: String) {
    self.id = id
    self.manifest = manifest
    self.folder = folder
    recordings = Dictionary(grouping: manifest.recordings, by: \.identifier)
      .mapValues { calls in calls.sorted { ($0.call ?? 0) < ($1.call ?? 0) } }
  }

  deinit {
    // Calls that began before the snapshot was replaced hold on to it, and read from it to their end.
    removal.withLock { $0 }?()
  }

  /// Says what is to be done with the folder when nobody reads from it any more.
  func retire(_ remove: @escaping @Sendable () -> Void) { removal.withLock { $0 = remove } }

  /// Every identifier, in no order.
  var identifiers: [String] { Array(recordings.keys) }

  /// The bytes of the call that is next in `session`, checked against the manifest. The identifier is looked for as it
  /// is, and then as rules of redaction leave it.
  func data(
    for identifier: String, redactor: Redactor, in session: ReplaySession
  ) throws(ReplayProblem) -> Data {
    guard let calls = recordings[identifier] ?? recordings[redactor.redact(identifier: identifier)]
    else { throw .missing }
    let recording = calls[session.next(identifier, of: calls.count)]
    let data: Data
    do {
      let file = try File(folder + "/" + recording.path)
      let size = try file.size
      guard size == recording.size else {
        throw ReplayProblem.unreadable("it has \(size) bytes where \(recording.size) were recorded")
      }
      data = Data(try file.read(upTo: Int(size), at: 0))
    } catch let error as ReplayProblem {
      throw error
    } catch {
      throw .unreadable("\(error)")
    }
    guard ContentDigest.of(data) == recording.sha256 else {
      throw .unreadable("its bytes are not those that were recorded: the digest differs")
    }
    return data
  }
}
