public import Foundation

/// What a request carries.
public enum TransportBody: Sendable {
  /// Nothing; `POST`, `PUT` and `PATCH` say so with `Content-Length: 0`.
  case none
  /// Bytes in memory.
  case bytes(Data)
  /// The contents of a regular file, with its length at the start declared. A link is followed.
  case file(URL)
}

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
