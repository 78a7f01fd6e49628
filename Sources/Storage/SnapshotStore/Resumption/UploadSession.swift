public import Foundation
public import SnapshotFormat

/// The state machine of one upload. It decides, and does no I/O.
///
///     create ─▶ admit ─▶ (receive … advance) ─▶ finish ─▶ begin publishing ─▶ end
///                 ▲                               │
///                 └────────── not whole yet ──────┘
///
/// A store makes bytes durable before it calls ``advance(to:at:)``, and the session durable before it returns it to a
/// client. So ``offset`` counts durable bytes only, and an offset that a client was sent never decreases. The session
/// of a transient upload is an exception: its offset is never sent to a client.
public struct UploadSession: Sendable, Hashable {
  /// The part of an upload's state that changes.
  public struct Progress: Sendable, Hashable, Codable {
    /// The number of durable bytes.
    public internal(set) var offset: Int64 = 0
    /// The total length, if known. It never changes once it is known.
    public internal(set) var length: Int64?
    /// Whether the upload is complete. A complete upload accepts no more bytes.
    public internal(set) var isWhole = false
    /// The digest of all bytes that an append stated.
    public internal(set) var expected: ContentDigest?
    /// The digest of all bytes, set just before they are published.
    public internal(set) var sha256: ContentDigest?
    /// The UUID under which it is about to be published; `nil` in progress written by earlier versions.
    public internal(set) var snapshot: SnapshotID?
    /// How the upload ended; `nil` while it is open.
    public internal(set) var outcome: UploadOutcome?
    /// The time of the last change, rounded to milliseconds.
    public internal(set) var touchedAt: Date
  }

  /// The id of the upload.
  public let id: UploadID
  /// The properties that were set when the upload was created.
  public let terms: UploadTerms
  /// When the upload was created, rounded to milliseconds.
  public let createdAt: Date
  /// The part of the state that changes.
  public private(set) var progress: Progress

  /// Creates an upload without bytes. Throws if the length in `terms` is negative or exceeds the limits.
  public init(
    _ terms: UploadTerms, id: UploadID = UploadID(), limits: UploadLimits, at now: Date
  ) throws(UploadError) {
    if let length = terms.length { try Self.require(length, known: nil, atLeast: 0, limits) }
    self.id = id
    self.terms = terms
    createdAt = SnapshotJSON.milliseconds(of: now)
    progress = Progress(length: terms.length, touchedAt: createdAt)
  }

  /// Creates an upload that is joined from `parts`, in their order. It is complete from the start.
  public init(
    _ terms: UploadTerms, id: UploadID = UploadID(), joining parts: [UploadSession], limits: UploadLimits,
    at now: Date
  ) throws(UploadError) {
    guard (1...limits.parts).contains(parts.count) else { throw .partCount(limit: limits.parts) }
    var length: Int64 = 0
    for part in parts {
      guard part.terms.isPartial, part.isWhole, part.terms.owner == terms.owner else {
        throw .unusablePart(part.id)
      }
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

  /// Creates an upload of one request, which is never stored, and admits that request. The upload is complete when the
  /// request ends.
  /// - Parameters:
  ///   - terms: the properties of the upload.
  ///   - limit: the most bytes that the upload may have, if less than ``UploadLimits/length``.
  ///   - limits: the limits of every upload.
  ///   - now: the current time.
  public static func transient(
    _ terms: UploadTerms, limit: Int64, limits: UploadLimits, at now: Date
  ) throws(UploadError) -> (session: UploadSession, append: UploadAppend) {
    var limits = limits
    limits.length = min(limit, limits.length)
    let session = try UploadSession(terms, limits: limits, at: now)
    let request = AppendRequest(offset: 0, completes: true)
    return (session, UploadAppend(to: session, request, limit: limits.length))
  }

  /// Restores an upload from its stored state.
  public init(_ id: UploadID, _ terms: UploadTerms, createdAt: Date, progress: Progress) {
    self.id = id
    self.terms = terms
    self.createdAt = createdAt
    self.progress = progress
  }

  /// The number of durable bytes.
  public var offset: Int64 { progress.offset }
  /// The total length, if known.
  public var length: Int64? { progress.length }
  /// Whether the upload is complete. A complete upload accepts no more bytes.
  public var isWhole: Bool { progress.isWhole }
  /// How the upload ended; `nil` while it is open.
  public var outcome: UploadOutcome? { progress.outcome }
  /// The attachment to publish the bytes under, with the digest that was stated when the upload was created or by an
  /// append; `nil` for a part.
  public var attachment: Attachment? {
    guard var attachment = terms.attachment else { return nil }
    attachment.expected = attachment.expected ?? progress.expected
    return attachment
  }
  /// Whether the upload is complete and ready to be published.
  public var isDue: Bool { isWhole && outcome == nil && !terms.isPartial }

  /// When the upload expires.
  public func expiresAt(_ limits: UploadLimits) -> Date {
    expiresAt(limits, idle: offset == 0 && !isWhole ? min(limits.empty, limits.idle) : limits.idle)
  }

  private func expiresAt(_ limits: UploadLimits, idle: Duration) -> Date {
    let idle = progress.touchedAt.addingTimeInterval(idle / .seconds(1))
    // The limit of age does not apply, so that the client can ask for the outcome of a slow upload.
    return outcome != nil ? idle : min(idle, createdAt.addingTimeInterval(limits.age / .seconds(1)))
  }

  /// Whether the upload has expired at `now`.
  public func isExpired(at now: Date, _ limits: UploadLimits) -> Bool { expiresAt(limits) <= now }

  /// Whether the upload would have expired at `now` even if it had a byte.
  public func isOverdue(at now: Date, _ limits: UploadLimits) -> Bool {
    expiresAt(limits, idle: limits.idle) <= now
  }

  // MARK: Receiving bytes

  /// Admits a request that appends bytes, and adopts the length and the digest that it states. Throws
  /// ``UploadError/gone``, ``UploadError/joined``, ``UploadError/mismatchingOffset(expected:provided:)``,
  /// ``UploadError/inconsistentLength(known:stated:)``, ``UploadError/tooLarge(limit:)``,
  /// ``UploadError/exceeded(length:)``, ``UploadError/completed``, or ``UploadError/digestMismatch`` if another digest
  /// of all bytes was stated before.
  /// - Parameters:
  ///   - request: the request.
  ///   - bytes: the number of bytes of the request's body, if it states it.
  ///   - limits: the limits of every upload.
  ///   - now: the current time; `nil` if the caller has made sure that the upload has not expired.
  public mutating func admit(
    _ request: AppendRequest, bytes: Int64?, limits: UploadLimits, at now: Date? = nil
  ) throws(UploadError) -> UploadAppend {
    if let now, isExpired(at: now, limits) { throw .gone }
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
    if let stated = request.expected {
      guard stated == attachment?.expected ?? stated else { throw .digestMismatch }
      progress.expected = stated
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

  /// Records that all bytes before `offset` are durable. A lower offset than before changes nothing.
  public mutating func advance(to offset: Int64, at now: Date) {
    guard offset > progress.offset, !isWhole else { return }
    progress.offset = offset
    touch(now)
  }

  /// Records that the body of `append` arrived completely and is durable.
  ///
  /// Throws ``UploadError/inconsistentLength(known:stated:)`` if the request was to complete the upload and the bytes
  /// are fewer than the stated length. The bytes count nevertheless.
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

  /// Records the digest of the bytes and the UUID just before they are published. Can be called again with another `id`.
  public mutating func beginPublishing(_ sha256: ContentDigest, as id: SnapshotID) {
    progress.sha256 = sha256
    progress.snapshot = id
  }

  /// Records the outcome. The upload accepts no more bytes.
  public mutating func end(_ outcome: UploadOutcome, at now: Date) {
    progress.outcome = outcome
    progress.isWhole = true
    touch(now)
  }

  private mutating func touch(_ now: Date) {
    // If the clock was set back, the upload must not appear to be idle for longer than it is.
    progress.touchedAt = max(SnapshotJSON.milliseconds(of: now), progress.touchedAt)
  }
}
