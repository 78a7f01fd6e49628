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
