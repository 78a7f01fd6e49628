public import SnapshotFormat

/// How an upload ended. It is kept for clients that did not receive the response.
public enum UploadOutcome: Sendable, Hashable, Codable {
  /// The upload is published under this UUID. `isNew` is false if the same bytes were published before.
  case published(SnapshotID, isNew: Bool)
  /// The upload was refused permanently, and its bytes are removed.
  case refused(UploadRefusal)
}

/// The reason why an upload can never be published, even if it is retried.
public struct UploadRefusal: Error, Sendable, Hashable, Codable, CustomStringConvertible {
  /// The possible reasons. They correspond to cases of ``StoreError``.
  public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
    case digestMismatch, invalid, foreignApplication, conflict, alreadyExists, deleted
  }

  /// The most bytes of ``description``, in UTF-8.
  public static let textLength = 500

  /// The reason.
  public let reason: Reason
  /// A sentence for people.
  public let description: String

  /// Creates a refusal. A `description` that is too long is truncated.
  public init(_ reason: Reason, _ description: String) {
    self.reason = reason
    var text = ""
    for character in description.unicodeScalars {
      guard text.utf8.count + UTF8.width(character) <= Self.textLength else { break }
      text.unicodeScalars.append(character)
    }
    self.description = text
  }

  /// The refusal that corresponds to `error`; `nil` if the uploaded bytes are not the cause of the error.
  public init?(_ error: StoreError) {
    let reason: Reason
    switch error {
    case .digestMismatch: reason = .digestMismatch
    case .invalid: reason = .invalid
    case .foreignApplication: reason = .foreignApplication
    case .conflict: reason = .conflict
    case .alreadyExists: reason = .alreadyExists
    case .deleted: reason = .deleted
    case .notFound, .outOfSpace, .outOfInodes, .quotaExceeded, .damaged, .tooManyComments, .unavailable,
      .system:
      return nil
    }
    self.init(reason, error.description)
  }
}

extension UploadOutcome {
  /// The outcome of a successful upload.
  public init(_ publication: Publication) {
    switch publication {
    case .created(let record): self = .published(record.id, isNew: true)
    case .alreadyThere(let record): self = .published(record.id, isNew: false)
    }
  }
}
