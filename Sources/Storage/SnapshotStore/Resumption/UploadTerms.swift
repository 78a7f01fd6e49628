import Foundation
import SnapshotFormat

/// The properties of an upload that are set when it is created. They never change.
public struct UploadTerms: Sendable, Hashable, Codable {
  /// The purpose of the bytes once the upload is complete.
  public enum Kind: Sendable, Hashable, Codable {
    /// The bytes are a bundle, published under this attachment.
    case whole(Attachment)
    /// The bytes are a part for uploads of the kind ``joined(_:parts:)``. Several uploads can use the same part.
    case partial
    /// The bytes of these parts, concatenated in order, are a bundle, published under this attachment.
    case joined(Attachment, parts: [UploadID])
  }

  /// The purpose of the bytes.
  public var kind: Kind
  /// The total number of bytes, if known from the start. The length of a joined upload follows from its parts.
  public var length: Int64?
  /// The id of the token that the upload belongs to; `nil` if no token was required.
  public var owner: String?
  /// The client address that the upload was created from, in the form used for counting; `nil` if it is not known.
  public var address: String?
  /// The protocol that the upload was created with, as named by the protocol's implementation.
  public var dialect: String
  /// Text that is returned to the client unchanged, such as tus's `Upload-Metadata`.
  public var note: String?

  /// Creates terms.
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

  /// The attachment to publish the bytes under; `nil` for a part.
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

  /// Whether the upload is joined from parts. It then accepts no bytes itself.
  public var isJoined: Bool { if case .joined = kind { true } else { false } }
  /// Whether the upload is a part.
  public var isPartial: Bool { kind == .partial }
}

extension UploadTerms {
  /// Throws ``UploadError/termsTooLong(limit:)`` if the terms take more bytes as JSON than the limits allow.
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
