public import DataSnapshots
public import Foundation
import HTTPTransport
public import SnapshotClient
import SnapshotFormat

extension BetaSettings {
  /// The settings of an app that records with `mode`, and sends with `reporter`.
  /// - Parameters:
  ///   - client: what fetches snapshots.
  ///   - folder: a folder of the settings' own, not the reporter's.
  public convenience init(
    mode: SnapshotMode, client: SnapshotAPIClient, reporter: BugReporter, folder: URL,
    configuration: Configuration = Configuration()
  ) {
    self.init(
      mode: mode, client: client, uploads: Uploads(reporter), folder: folder, configuration: configuration)
  }
}

extension BetaSettings.Uploads {
  /// What `reporter` has in its queue.
  public init(_ reporter: BugReporter) {
    self.init(
      attach: { try await reporter.attach(report: $0) },
      list: { reporter.queue.items.reversed().map { BetaSettings.Upload($0) } },
      retry: { try reporter.queue.retryNow($0) },
      remove: { try await reporter.queue.remove($0) })
  }
}

extension BetaSettings.Upload {
  /// What is shown of `upload`.
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
    case .removed: self = .failed("It was removed.")
    }
  }

  private static func fraction(of upload: QueuedUpload) -> Double? {
    guard let progress = upload.progress, let total = progress.total, total > 0 else { return nil }
    return Double(progress.completed) / Double(total)
  }

  private static func words(of wait: QueuedUpload.Wait, _ upload: QueuedUpload) -> String {
    let failure = upload.lastFailure.map { " Last time: \($0)" } ?? ""
    return switch wait {
    case .turn: "others go first.\(failure)"
    case .time: "it will be tried again by itself.\(failure)"
    case .network: "there is no network that may be used.\(failure)"
    case .token: "the server wants another token.\(failure)"
    }
  }
}
