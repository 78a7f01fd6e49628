import Foundation
import SnapshotFormat

/// What was agreed upon when an upload was opened; never changed afterwards.
public struct UploadTerms: Sendable, Hashable, Codable {
  /// What becomes of the bytes once they are all there.
  public enum Kind: Sendable, Hashable, Codable {
    /// A bundle of their own, published so.
    case whole(Attachment)
    /// A part, which waits for uploads of the kind ``joined(_:parts:)``; those may be several.
    case partial
    /// A bundle made of the bytes of those parts, one after the other, published so.
    case joined(Attachment, parts: [UploadID])
  }

  /// What becomes of the bytes.
  public var kind: Kind
  /// How many bytes come, where that is known from the start. That of a joined one is known from its parts.
  public var length: Int64?
  /// The id of the token that it belongs to; `nil` where none was needed.
  public var owner: String?
  /// The client address that it was opened from, as addresses are counted; `nil` where that is not known.
  public var address: String?
  /// The protocol that it was opened by, as whoever speaks it calls it.
  public var dialect: String
  /// What came with it that is to be told again as it came, such as tus's `Upload-Metadata`.
  public var note: String?

  /// Terms by their parts.
  public init(
    _ kind: Kind, length: Int64? = nil, owner: String? = nil, address: String? = nil, dialect: String,
    note: String? = nil
  ) {
    self.kind = kind
    self.length = length
    self.owner = owner
    self.address = address
    self.dialect = dialect
    self.note = note
  }

  /// How the bytes are to be published; `nil` for a part.
  public var attachment: Attachment? {
    get {
      switch kind {
      case .whole(let attachment), .joined(let attachment, _): attachment
      case .partial: nil
      }
    }
    set {
      guard let newValue else { return }
      switch kind {
      case .whole: kind = .whole(newValue)
      case .joined(_, let parts): kind = .joined(newValue, parts: parts)
      case .partial: break
      }
    }
  }

  /// Whether it is made of parts, and takes no bytes itself.
  public var isJoined: Bool { if case .joined = kind { true } else { false } }
  /// Whether it is a part.
  public var isPartial: Bool { kind == .partial }
}

extension UploadTerms {
  /// Throws where they take more than is kept of any upload.
  public func requireFit(_ limits: UploadLimits) throws(UploadError) {
    do {
      guard try SnapshotJSON.encode(self).count <= limits.termsBytes else {
        throw UploadError.termsTooLong(limit: limits.termsBytes)
      }
    } catch {
      throw .termsTooLong(limit: limits.termsBytes)
    }
  }
}
