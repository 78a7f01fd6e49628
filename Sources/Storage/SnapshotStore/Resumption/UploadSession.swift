public import Foundation
public import SnapshotFormat

/// What is known of one upload, and what may become of it: decides, and does nothing.
///
///     create ─▶ admit ─▶ (receive … advance) ─▶ finish ─▶ begin publishing ─▶ end
///                 ▲                               │
///                 └────────── not whole yet ──────┘
///
/// Its ``offset`` is that of bytes that last: whoever keeps it makes bytes last before it calls
/// ``advance(to:at:)``, and the session before it tells anybody. So no offset that was told is ever taken back.
public struct UploadSession: Sendable, Hashable {
  /// What changes of an upload.
  public struct Progress: Sendable, Hashable, Codable {
    /// How many bytes are there and last.
    public internal(set) var offset: Int64 = 0
    /// How many there are in all, as far as that is known; never changed once it is.
    public internal(set) var length: Int64?
    /// Whether all are there, and nothing more is taken.
    public internal(set) var isWhole = false
    /// The digest of all, once it is about to be published.
    public internal(set) var sha256: ContentDigest?
    /// How it ended.
    public internal(set) var outcome: UploadOutcome?
    /// When something last changed, to the millisecond.
    public internal(set) var touchedAt: Date
  }

  /// Its name.
  public let id: UploadID
  /// What was agreed upon.
  public let terms: UploadTerms
  /// When it was opened, to the millisecond.
  public let createdAt: Date
  /// What changes of it.
  public private(set) var progress: Progress

  /// Opens an upload of nothing yet; throws what speaks against `terms` by themselves.
  public init(
    _ terms: UploadTerms, id: UploadID = UploadID(), limits: UploadLimits, at now: Date
  ) throws(UploadError) {
    if let length = terms.length { try Self.require(length, known: nil, atLeast: 0, limits) }
    self.id = id
    self.terms = terms
    createdAt = SnapshotJSON.milliseconds(of: now)
    progress = Progress(length: terms.length, touchedAt: createdAt)
  }

  /// Opens an upload that is joined from `parts`, in their order, all of whose bytes are there.
  public init(
    _ terms: UploadTerms, id: UploadID = UploadID(), joining parts: [UploadSession], limits: UploadLimits,
    at now: Date
  ) throws(UploadError) {
    guard (1...limits.parts).contains(parts.count) else { throw .partCount(limit: limits.parts) }
    var length: Int64 = 0
    for part in parts {
      guard part.terms.isPartial, part.isWhole, part.terms.owner == terms.owner,
        !part.isExpired(at: now, limits)
      else { throw .unusablePart(part.id) }
      let (sum, overflow) = length.addingReportingOverflow(part.offset)
      guard !overflow, sum <= limits.length else { throw .tooLarge(limit: limits.length) }
      length = sum
    }
    try self.init(terms, id: id, limits: limits, at: now)
    if let stated = terms.length, stated != length {
      throw .inconsistentLength(known: length, stated: stated)
    }
    progress.length = length
    progress.offset = length
    progress.isWhole = true
  }

  /// An upload as it was kept.
  public init(_ id: UploadID, _ terms: UploadTerms, createdAt: Date, progress: Progress) {
    self.id = id
    self.terms = terms
    self.createdAt = createdAt
    self.progress = progress
  }

  /// How many bytes are there and last.
  public var offset: Int64 { progress.offset }
  /// How many there are in all, as far as that is known.
  public var length: Int64? { progress.length }
  /// Whether all are there, and nothing more is taken.
  public var isWhole: Bool { progress.isWhole }
  /// How it ended; `nil` while it is open.
  public var outcome: UploadOutcome? { progress.outcome }
  /// Whether it waits for nothing but its publication.
  public var isDue: Bool { isWhole && outcome == nil && !terms.isPartial }

  /// When it expires.
  public func expiresAt(_ limits: UploadLimits) -> Date {
    expiresAt(limits, idle: offset == 0 && !isWhole ? min(limits.empty, limits.idle) : limits.idle)
  }

  private func expiresAt(_ limits: UploadLimits, idle: Duration) -> Date {
    let idle = progress.touchedAt.addingTimeInterval(idle / .seconds(1))
    // The outcome of one that took its time is to be heard too.
    return outcome != nil ? idle : min(idle, createdAt.addingTimeInterval(limits.age / .seconds(1)))
  }

  /// Whether it should have gone.
  public func isExpired(at now: Date, _ limits: UploadLimits) -> Bool { expiresAt(limits) <= now }

  /// Whether it would have expired even if it had a byte.
  public func isOverdue(at now: Date, _ limits: UploadLimits) -> Bool {
    expiresAt(limits, idle: limits.idle) <= now
  }

  // MARK: Bytes that come

  /// Lets a request bring bytes, or says why not; takes over what it says of the length.
  /// - Parameter bytes: how many it brings, where it says so.
  public mutating func admit(
    _ request: AppendRequest, bytes: Int64?, limits: UploadLimits, at now: Date
  ) throws(UploadError) -> UploadAppend {
    if isExpired(at: now, limits) { throw .gone }
    if terms.isJoined { throw .joined }
    guard request.offset == offset else {
      throw .mismatchingOffset(expected: offset, provided: request.offset)
    }
    if isWhole || outcome != nil {
      if let stated = request.length, stated != length {
        throw .inconsistentLength(known: length, stated: stated)
      }
      guard bytes ?? 0 == 0, request.completes != false else { throw .completed }
      return UploadAppend(asking: self)
    }
    var length = length
    if let stated = request.length {
      try Self.require(stated, known: length, atLeast: offset, limits)
      length = stated
    }
    if let bytes {
      let (end, overflow) = offset.addingReportingOverflow(bytes)
      guard !overflow, end <= limits.length else { throw .tooLarge(limit: limits.length) }
      if request.completes == true {
        try Self.require(end, known: length, atLeast: offset, limits)
        length = end
      } else if let length, end > length {
        throw .exceeded(length: length)
      }
    }
    progress.length = length
    return UploadAppend(to: self, request, limit: limits.length)
  }

  private static func require(
    _ stated: Int64, known: Int64?, atLeast least: Int64, _ limits: UploadLimits
  ) throws(UploadError) {
    guard stated >= least, known == nil || known == stated else {
      throw .inconsistentLength(known: known, stated: stated)
    }
    guard stated <= limits.length else { throw .tooLarge(limit: limits.length) }
  }

  /// The bytes before `offset` last; one that was reached before changes nothing.
  public mutating func advance(to offset: Int64, at now: Date) {
    guard offset > progress.offset, !isWhole else { return }
    progress.offset = offset
    touch(now)
  }

  /// The body of `append` has ended as it should, and all of it lasts.
  ///
  /// Throws where the bytes are fewer than was said, and the request was to be the last: they count all the same.
  public mutating func finish(_ append: UploadAppend, at now: Date) throws(UploadError) {
    guard !isWhole, append.end == offset else { return }
    switch append.completes {
    case nil: progress.isWhole = length == offset
    case true?:
      if let length, length != offset { throw .inconsistentLength(known: length, stated: offset) }
      progress.length = offset
      progress.isWhole = true
    case false?: break
    }
    if isWhole { touch(now) }
  }

  // MARK: The end

  /// The bytes have this digest, and are about to be published.
  public mutating func beginPublishing(_ sha256: ContentDigest) { progress.sha256 = sha256 }

  /// It has ended, and takes nothing any more.
  public mutating func end(_ outcome: UploadOutcome, at now: Date) {
    progress.outcome = outcome
    progress.isWhole = true
    touch(now)
  }

  private mutating func touch(_ now: Date) {
    // A clock that is set back must not make an upload older than it is.
    progress.touchedAt = max(SnapshotJSON.milliseconds(of: now), progress.touchedAt)
  }
}
