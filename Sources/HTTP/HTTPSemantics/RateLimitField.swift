import RawStructuredFieldValues

/// The values of `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers): a named limit and its
/// remaining quota.
public struct RateLimitField: Sendable, Hashable {
  /// The limit's name.
  public let name: String
  /// The number of requests allowed in one window.
  public let quota: Int
  /// The length of the window, in seconds.
  public let window: Int
  /// The unit of the quota if it is not requests, such as `content-bytes`.
  public let unit: String?
  /// The remaining quota.
  public let remaining: Int
  /// The number of seconds until the quota is full again.
  public let reset: Int

  /// Creates a limit from its parts. `name` must be visible ASCII.
  public init(name: String, quota: Int, window: Int, unit: String? = nil, remaining: Int, reset: Int) {
    self.name = name
    self.quota = quota
    self.window = window
    self.unit = unit
    self.remaining = remaining
    self.reset = reset
  }

  /// The value of `RateLimit-Policy`: `"token";q=100;w=60`.
  public var policy: String {
    encode(
      [("q", .integer(Int64(quota))), ("w", .integer(Int64(window)))]
        + (unit.map { [("qu", .string($0))] } ?? []))
  }

  /// The value of `RateLimit`: `"token";r=50;t=30`.
  public var fieldValue: String {
    encode([("r", .integer(Int64(remaining))), ("t", .integer(Int64(reset)))])
  }

  /// Returns an empty text if the name is not visible ASCII.
  private func encode(_ parameters: [(key: String, value: RFC9651BareItem)]) -> String {
    var values = OrderedMap<String, RFC9651BareItem>()
    for (key, value) in parameters { values[key] = value }
    do {
      // Through `Codable`, a name that is also a valid token would be written as a token, but the draft requires a
      // string.
      var serializer = StructuredFieldValueSerializer()
      let entry = Item(bareItem: .string(name), parameters: values)
      return String(decoding: try serializer.writeListFieldValue([.item(entry)]), as: UTF8.self)
    } catch {
      return ""
    }
  }
}
