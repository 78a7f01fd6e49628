public import DataSnapshots
public import Foundation
import HTTPClient
public import SnapshotClient
import SnapshotFormat

extension BetaSettings {
  /// Creates the settings of an app that records with `mode` and sends with `reporter`.
  /// - Parameters:
  ///   - mode: records and replays.
  ///   - client: fetches snapshots.
  ///   - reporter: sends snapshots.
  ///   - folder: a folder for the settings only, not shared with the reporter.
  ///   - configuration: the number of recent snapshots, and the clock.
  public convenience init(
    mode: SnapshotMode, client: SnapshotAPIClient, reporter: BugReporter, folder: URL,
    configuration: Configuration = Configuration()
  ) {
    self.init(
      mode: mode, client: client, uploads: Uploads(reporter), folder: folder, configuration: configuration)
  }
}

extension BetaSettings.Uploads {
  /// The uploads in the queue of `reporter`.
  public init(_ reporter: BugReporter) {
    self.init(
      attach: { try await reporter.attach($0) },
      list: { reporter.queue.items.reversed().map { BetaSettings.Upload($0) } },
      retry: { try reporter.queue.retryNow($0) },
      remove: { try await reporter.queue.remove($0) })
  }
}

extension BetaSettings.Upload {
  /// Converts a queued upload for display.
  init(_ upload: QueuedUpload) {
    self.init(
      id: upload.id, report: upload.report, size: upload.size, attachedAt: upload.attachedAt,
      state: State(upload), canRetry: Self.canRetry(upload))
  }

  private static func canRetry(_ upload: QueuedUpload) -> Bool {
    switch upload.state {
    case .waiting(.time), .waiting(.token), .failed: upload.hasBundle
    case .waiting, .uploading, .done, .removed: false
    }
  }
}

extension BetaSettings.Upload.State {
  init(_ upload: QueuedUpload) {
    switch upload.state {
    case .waiting(let wait): self = .waiting(Self.words(of: wait, upload))
    case .uploading: self = .sending(Self.fraction(of: upload))
    case .done: self = .done
    case .failed(let failure): self = .failed(failure.description)
    case .removed: self = .failed("The upload was removed.")
    }
  }

  private static func fraction(of upload: QueuedUpload) -> Double? {
    guard let progress = upload.progress, let total = progress.total, total > 0 else { return nil }
    return Double(progress.completed) / Double(total)
  }

  private static func words(of wait: QueuedUpload.Wait, _ upload: QueuedUpload) -> String {
    let failure = upload.lastFailure.map { " Last time: \($0)" } ?? ""
    return switch wait {
    case .turn: "other uploads are sent first.\(failure)"
    case .time: "it will be retried automatically.\(failure)"
    case .network: "no permitted network is available.\(failure)"
    case .token: "the server rejected the access token.\(failure)"
    }
  }
}
