import Foundation
import SnapshotFormat

/// The JSON format of an upload's state file, `state.json`.
struct StoredQueueItem: Codable {
  static let currentVersion = 1

  enum State: String, Codable { case waiting, failed, done }

  struct Failure: Codable {
    var code: String
    var status: Int?
    var message: String
    var date: Date
  }

  var version = currentVersion
  var id: SnapshotID
  var report: ReportID
  var size: Int64
  var sha256: ContentDigest
  var attachedAt: Date
  var state: State
  var failures: Int
  var lastFailure: Failure?
  var nextTry: Date?
  var endedAt: Date?
  var hasBundle: Bool

  init(_ item: QueuedUpload) {
    id = item.id
    report = item.report
    size = item.size
    sha256 = item.sha256
    attachedAt = item.attachedAt
    state =
      switch item.state {
      case .waiting, .uploading: .waiting
      case .failed: .failed
      case .done, .removed: .done
      }
    failures = item.failures
    lastFailure = item.lastFailure.map {
      Failure(code: $0.code.rawValue, status: $0.status, message: $0.description, date: $0.date)
    }
    nextTry = item.nextTry
    endedAt = item.endedAt
    hasBundle = item.hasBundle
  }

  /// The upload. An upload that was running, or waited for anything but its time, starts in the state `waiting(.turn)`.
  var item: QueuedUpload {
    let failure = lastFailure.map {
      QueuedUpload.Failure(
        code: .init(rawValue: $0.code), status: $0.status, description: $0.message, date: $0.date)
    }
    let state: QueuedUpload.State =
      switch (self.state, failure) {
      case (.done, _): .done
      case (.failed, let failure?): .failed(failure)
      case (.waiting, _), (.failed, nil): .waiting(.turn)
      }
    return QueuedUpload(
      id: id, report: report, size: size, sha256: sha256, attachedAt: attachedAt, state: state, progress: nil,
      failures: failures, lastFailure: failure, nextTry: nextTry, endedAt: endedAt, hasBundle: hasBundle)
  }
}
