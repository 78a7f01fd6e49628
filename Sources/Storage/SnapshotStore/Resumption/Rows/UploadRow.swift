package import SnapshotFormat

/// What servers that share resumable uploads keep of each: its session, and where its durable bytes are.
///
/// The first bytes are in an object store, and the rest, which is too short for a part of an object, is in the row. So
/// the session's offset is the length of the object and of the tail together.
package struct UploadRow: Sendable, Hashable {
  /// The terms and the progress.
  package var session: UploadSession
  /// The bytes in the object store.
  package var object: UploadObject
  /// The bytes after those in the object store.
  package var tail: [UInt8]

  /// Creates a row.
  package init(_ session: UploadSession, _ object: UploadObject = UploadObject(), tail: [UInt8] = []) {
    self.session = session
    self.object = object
    self.tail = tail
  }
}

/// The bytes of an upload that are in an object store.
package struct UploadObject: Sendable, Hashable, Codable {
  /// A part that the object store has.
  package struct Part: Sendable, Hashable, Codable {
    /// The number of the part. Numbers ascend in the order of the bytes, with gaps.
    package let number: Int
    /// The version of the part, which completion names.
    package let version: String
    /// The length in bytes.
    package let size: Int64
    /// Whether the bytes do not belong to the upload: a server wrote them, but ended before it recorded the part.
    /// `nil` means `false`, as in rows of earlier versions.
    package private(set) var isUnrecorded: Bool?

    /// Creates a part.
    package init(number: Int, version: String, size: Int64, isUnrecorded: Bool = false) {
      self.number = number
      self.version = version
      self.size = size
      self.isUnrecorded = isUnrecorded ? true : nil
    }
  }

  /// The form of the bytes.
  package enum Contents: Sendable, Hashable, Codable {
    /// There are none.
    case none
    /// The bytes are in an upload in parts. `lastNumber` is the highest number with which any server may have written a
    /// part, listed or not: a write can be executed at any later time, so no number is used twice.
    case parts(upload: String, [Part], lastNumber: Int)
    /// The bytes are an object.
    case whole(length: Int64)
  }

  /// The name of the object: random, and used for this upload only.
  package let name: SnapshotID
  /// The form of the bytes.
  package var contents: Contents

  /// Creates an object.
  package init(name: SnapshotID = SnapshotID(), _ contents: Contents = .none) {
    self.name = name
    self.contents = contents
  }

  /// The number of bytes.
  package var length: Int64 {
    switch contents {
    case .none: 0
    case .parts(_, let parts, _): parts.reduce(0) { $0 + ($1.isUnrecorded == true ? 0 : $1.size) }
    case .whole(let length): length
    }
  }

  /// Where the byte at `offset` of the upload is in the object, and how many bytes of the upload follow there without a
  /// gap, including this one.
  package func place(of offset: Int64) -> (offset: Int64, count: Int64) {
    guard case .parts(_, let parts, _) = contents else { return (offset, length - offset) }
    var (start, left) = (Int64(0), offset)
    for part in parts {
      if part.isUnrecorded != true {
        if left < part.size { return (start + left, part.size - left) }
        left -= part.size
      }
      start += part.size
    }
    return (start, 0)
  }
}

/// The right to change an upload, which one server has at a time.
package struct UploadLease: Sendable, Hashable {
  /// The id of the upload.
  package let upload: UploadID
  /// The number of the lease. Each lease of an upload has a higher one than those before.
  package let epoch: Int64

  /// Creates a lease: only for implementations of ``UploadRows``.
  package init(upload: UploadID, epoch: Int64) {
    self.upload = upload
    self.epoch = epoch
  }
}

/// The result of an attempt to take a lease.
package enum UploadTake: Sendable, Hashable {
  /// The lease was taken. The row is as the last holder left it.
  case taken(UploadRow, UploadLease)
  /// Another holder has a lease, which ends after this time unless it is renewed.
  case held(for: Duration)
  /// There is no such upload.
  case unknown
}
