package import Foundation
package import SnapshotFormat

/// The exchange that an entry of an archive describes, with its bodies.
package struct ArchivedExchange: Hashable, Sendable {
  /// The request, the response and the times. The body of the request is not described.
  package var description: Manifest.Exchange
  /// The URL of the request.
  package var url: URL
  /// The body of the request; empty if there is none.
  package var requestBody: Data
  /// The body of the response, decoded from `Content-Encoding`; empty if there is none.
  package var body: Data
  /// The size of the response's body that the archive states, if it differs from that of the body.
  package var statedSize: Int64?

  /// When the exchange ended.
  package var endedAt: Date { description.startedAt.addingTimeInterval(Double(description.duration) / 1000) }
}

/// Why an entry has no exchange that could be replayed.
package struct ArchiveOmission: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason.
  package enum Reason: Hashable, Sendable {
    /// The entry exceeds ``ArchiveLimits/entrySize``.
    case entryTooLarge
    /// The URL or the whole description is too long, or the file with a body is too large.
    case urlTooLong, descriptionTooLarge, fileTooLarge
    /// There is no method or no URL, or the URL or the status is none.
    case noRequest, invalidURL, invalidStatus(Int64)
    /// The archive does not have the body of the request, or of the response.
    case noRequestBody, noBody
    /// A body has an encoding other than `base64`, or is not in this encoding.
    case unknownEncoding(String), notBase64
    /// The file with a body does not exist beside the archive, or has a name with a path.
    case noFile(String)
  }

  /// The reason.
  package var reason: Reason
  /// The method and the URL, as far as the entry has them; not redacted.
  package var method: String
  package var url: String
  /// The size of what is missing, if it is known.
  package var bytes: Int64

  /// The reason in a manifest.
  package var dropped: Manifest.Dropped.Reason {
    switch reason {
    case .entryTooLarge, .descriptionTooLarge, .fileTooLarge: .tooLarge
    case .urlTooLong: .identifierTooLong
    case .noRequest, .invalidURL, .invalidStatus: .unsupported
    case .noRequestBody, .noBody, .unknownEncoding, .notBase64, .noFile: .bodyMissing
    }
  }

  /// The reason in a few words.
  package var description: String {
    switch reason {
    case .entryTooLarge: "the entry is larger than an entry may be"
    case .urlTooLong: "the URL is longer than a URL may be"
    case .descriptionTooLarge: "URL and header fields are larger than they may be"
    case .fileTooLarge: "the file with the body is larger than a body may be"
    case .noRequest: "it has no request with a method and a URL"
    case .invalidURL: "its URL is none"
    case .invalidStatus(let status): "\(status) is no status of HTTP"
    case .noRequestBody: "the archive does not contain the request's body"
    case .noBody: "the archive does not contain the response's body"
    case .unknownEncoding(let name): "a body has the unknown encoding ‘\(name.prefix(40))’"
    case .notBase64: "a body is not base64, as the archive says"
    case .noFile(let name): "there is no file ‘\(name.prefix(100))’ beside the archive"
    }
  }
}
