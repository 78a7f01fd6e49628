public import SnapshotFormat

/// How an upload ended, kept for those who did not hear it.
public enum UploadOutcome: Sendable, Hashable, Codable {
  /// It is published under this UUID: newly, or by the same bytes before.
  case published(SnapshotID, isNew: Bool)
  /// It will never be published, and its bytes are gone.
  case refused(UploadRefusal)
}

/// Why an upload is not published, whoever tries again.
public struct UploadRefusal: Error, Sendable, Hashable, Codable, CustomStringConvertible {
  /// The reasons there are, which are those of ``StoreError``.
  public enum Reason: String, Sendable, Hashable, Codable, CaseIterable {
    case digestMismatch, invalid, foreignApplication, conflict, alreadyExists, deleted
  }

  /// The most bytes of ``description``, in UTF-8.
  public static let textLength = 500

  /// The reason.
  public let reason: Reason
  /// A sentence for people.
  public let description: String

  /// A refusal for `reason`, in the words given.
  public init(_ reason: Reason, _ description: String) {
    self.reason = reason
    var text = ""
    for character in description.unicodeScalars {
      guard text.utf8.count + UTF8.width(character) <= Self.textLength else { break }
      text.unicodeScalars.append(character)
    }
    self.description = text
  }

  /// What `error` says of the bytes; `nil` where it is not they that are at fault.
  public init?(_ error: StoreError) {
    let reason: Reason
    switch error {
    case .digestMismatch: reason = .digestMismatch
    case .invalid: reason = .invalid
    case .foreignApplication: reason = .foreignApplication
    case .conflict: reason = .conflict
    case .alreadyExists: reason = .alreadyExists
    case .deleted: reason = .deleted
    case .notFound, .outOfSpace, .quotaExceeded, .damaged, .system: return nil
    }
    self.init(reason, error.description)
  }
}

extension UploadOutcome {
  /// What became of it.
  public init(_ publication: Publication) {
    switch publication {
    case .created(let record): self = .published(record.id, isNew: true)
    case .alreadyThere(let record): self = .published(record.id, isNew: false)
    }
  }
}
