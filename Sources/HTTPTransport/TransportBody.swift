public import Foundation

/// What a request carries.
public enum TransportBody: Sendable {
  /// Nothing; `POST`, `PUT` and `PATCH` say so with `Content-Length: 0`.
  case none
  /// Bytes in memory.
  case bytes(Data)
  /// The contents of a regular file, with its length at the start declared. A link is followed.
  case file(URL)
  /// That range of a regular file's bytes, which the file has. A link is followed. A transport that can't send from a
  /// file's midst holds the range in memory.
  case part(of: URL, Range<Int64>)
}
