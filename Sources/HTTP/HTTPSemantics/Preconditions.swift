public import HTTPTypes

/// The conditions that a request states, judged in the order of RFC 9110 §13.2.2.
public struct Preconditions: Sendable {
  /// What follows from the conditions.
  public enum Verdict: Sendable, Hashable {
    /// Do what the method says.
    case proceed
    /// 304: the client has it already.
    case notModified
    /// 412: a condition does not hold.
    case failed
  }

  /// What is there before the request is carried out.
  public struct Current: Sendable, Hashable {
    /// Its entity tag.
    public var entityTag: EntityTag?
    /// When it last changed.
    public var lastModified: HTTPDate?

    /// Describes what is there.
    public init(entityTag: EntityTag? = nil, lastModified: HTTPDate? = nil) {
      self.entityTag = entityTag
      self.lastModified = lastModified
    }
  }

  private let fields: HTTPFields

  /// Takes the conditions from a request's fields.
  public init(_ fields: HTTPFields) { self.fields = fields }

  /// `If-None-Match: *`: the method is to make what is not there yet.
  public var isCreateOnly: Bool {
    fields[.ifNoneMatch].flatMap(EntityTag.Condition.init) == .any
  }

  /// Judges the conditions of `method` against what is there, `nil` where nothing is.
  ///
  /// An `If-Match` that can't be read fails, for the request must not be carried out unless it holds. Any other
  /// field that can't be read counts as not sent (§13.1.3, §13.1.4).
  public func verdict(_ method: HTTPRequest.Method, on current: Current?) -> Verdict {
    let isRead = method == .get || method == .head
    if let value = fields[.ifMatch] {
      guard let condition = EntityTag.Condition(value), holds(condition, current, EntityTag.matchesStrongly)
      else {
        return .failed
      }
    } else if let limit = fields[.ifUnmodifiedSince].flatMap(HTTPDate.init),
      let changed = current?.lastModified,
      changed > limit
    {
      return .failed
    }
    if let value = fields[.ifNoneMatch] {
      if let condition = EntityTag.Condition(value), holds(condition, current, EntityTag.matchesWeakly) {
        return isRead ? .notModified : .failed
      }
    } else if isRead, let since = fields[.ifModifiedSince].flatMap(HTTPDate.init),
      let changed = current?.lastModified, changed <= since
    {
      return .notModified
    }
    return .proceed
  }

  /// Whether `Range` counts: there is no `If-Range`, or it names just these bytes. A date there never does, for
  /// nothing shows that it is a strong validator (§13.1.5).
  public func allowsRange(of entityTag: EntityTag?) -> Bool {
    guard let value = fields[.ifRange] else { return true }
    guard let wanted = EntityTag(value), let entityTag else { return false }
    return wanted.matchesStrongly(entityTag)
  }

  private func holds(
    _ condition: EntityTag.Condition, _ current: Current?, _ matches: (EntityTag) -> (EntityTag) -> Bool
  ) -> Bool {
    guard let current else { return false }
    return switch condition {
    case .any: true
    case .tags(let tags): current.entityTag.map { tag in tags.contains { matches($0)(tag) } } ?? false
    }
  }
}
