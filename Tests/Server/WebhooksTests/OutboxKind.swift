import Foundation
import PostgreSQLStore
import PostgreSQLTesting
import SnapshotFormat
import SystemIO
import TestSupport
import Webhooks

/// The implementations of ``WebhookOutbox``.
enum OutboxKind: CaseIterable, Sendable {
  case sqlite, postgresql

  /// The implementations that can be tested on this machine.
  static let allCases: [OutboxKind] = PostgreSQLServer.isInstalled ? [.sqlite, .postgresql] : [.sqlite]

  /// Runs `body` with a function that opens an outbox, which is empty at first, and the same one again after it was
  /// closed.
  func withOutboxes(
    waitingLimit: Int = WebhookLimits.waitingPerEndpoint,
    _ body: (_ open: () async throws -> any WebhookOutbox) async throws -> Void
  ) async throws {
    switch self {
    case .sqlite:
      let folder = try TemporaryFolder()
      try await body {
        try SQLiteOutbox(path: folder.file("webhooks.sqlite").path, waitingLimit: waitingLimit)
      }
    case .postgresql:
      try await withDatabase { configuration in
        let opened = Lock<[PostgreSQLOutbox]>([])
        defer { for outbox in opened.value { outbox.close() } }
        try await body {
          let outbox = try await PostgreSQLOutbox.open(configuration, waitingLimit: waitingLimit)
          opened.withLock { $0.append(outbox) }
          return outbox
        }
      }
    }
  }

  /// Runs `body` with an empty outbox.
  func withOutbox(
    waitingLimit: Int = WebhookLimits.waitingPerEndpoint, _ body: (any WebhookOutbox) async throws -> Void
  ) async throws {
    try await withOutboxes(waitingLimit: waitingLimit) { open in
      let outbox = try await open()
      try await body(outbox)
      try await outbox.close()
    }
  }
}

extension WebhookEvent {
  /// An event about a snapshot whose record can't be read.
  static func sample(
    _ kind: Kind = .attached, of snapshot: SnapshotID = SnapshotID(), comment: Int? = nil
  ) throws -> WebhookEvent {
    try WebhookEvent(
      kind, of: snapshot, nil, comment: comment, WebhookSettings(),
      at: Date(timeIntervalSince1970: 1_790_000_000))
  }
}
