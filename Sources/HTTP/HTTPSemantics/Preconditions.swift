public import HTTPTypes

/// The conditions of a request, evaluated in the order of RFC 9110 §13.2.2.
public struct Preconditions: Sendable {
  /// The result of the evaluation.
  public enum Verdict: Sendable, Hashable {
    /// Execute the method.
    case proceed
    /// 304: the client already has the current content.
    case notModified
    /// 412: a condition is false.
    case failed
  }

  /// The state of the resource before the request is executed.
  public struct Current: Sendable, Hashable {
    /// Its entity tag.
    public var entityTag: EntityTag?
    /// When it last changed.
    public var lastModified: HTTPDate?

    /// Creates a state from its parts.
    public init(entityTag: EntityTag? = nil, lastModified: HTTPDate? = nil) {
      self.entityTag = entityTag
      self.lastModified = lastModified
    }
  }

  private let fields: HTTPFields

  /// Reads the conditions from a request's fields.
  public init(_ fields: HTTPFields) { self.fields = fields }

  /// `If-None-Match: *`: the method may only create the resource, not replace it.
  public var isCreateOnly: Bool {
    fields[.ifNoneMatch].flatMap(EntityTag.Condition.init) == .any
  }

  /// Evaluates the conditions of `method` against the current state. `current` is `nil` if the resource does not exist.
  ///
  /// A malformed `If-Match` fails, because the request must not be executed unless the condition is true. Any other
  /// malformed field counts as missing (§13.1.3, §13.1.4).
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

  /// Whether the server honours `Range`: there is no `If-Range`, or it strongly matches `entityTag`. A date in
  /// `If-Range` never matches, because it is not known to be a strong validator (§13.1.5).
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
