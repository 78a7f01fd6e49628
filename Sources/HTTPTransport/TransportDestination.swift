public import Foundation

/// Where a response's body goes.
public enum TransportDestination: Sendable {
  /// Into memory, at most `limit` bytes.
  case memory(limit: Int)
  /// Into a file, made with mode 0600 where there is none, when the status is 200 (then from the start, cutting
  /// what was there) or 206 with a `Content-Range` that starts at `offset` (then from `offset` on). The file may
  /// be at most `limit` bytes long. Other statuses leave it alone: their bodies go into memory, cut after
  /// ``TransportLimits/problemBytes``.
  ///
  /// What arrived before a failure stays in the file.
  case file(URL, offset: Int64, limit: Int64 = .max)
}
