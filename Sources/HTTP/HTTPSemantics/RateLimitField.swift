import RawStructuredFieldValues

/// What `RateLimit-Policy` and `RateLimit` say (draft-ietf-httpapi-ratelimit-headers): a limit by its name, and how
/// much of it is left.
public struct RateLimitField: Sendable, Hashable {
  /// The limit's name.
  public let name: String
  /// How many requests it allows in its time.
  public let quota: Int
  /// That time, in seconds.
  public let window: Int
  /// What is counted, where it isn't requests: `content-bytes`.
  public let unit: String?
  /// How many are left.
  public let remaining: Int
  /// In how many seconds all are there again.
  public let reset: Int

  /// Describes a limit; `name` is visible ASCII.
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

  /// Empty where the name can't be written.
  private func encode(_ parameters: [(key: String, value: RFC9651BareItem)]) -> String {
    var values = OrderedMap<String, RFC9651BareItem>()
    for (key, value) in parameters { values[key] = value }
    do {
      // As Codable, a name that could be a token would become one, but a limit's name is a string.
      var serializer = StructuredFieldValueSerializer()
      let entry = Item(bareItem: .string(name), parameters: values)
      return String(decoding: try serializer.writeListFieldValue([.item(entry)]), as: UTF8.self)
    } catch {
      return ""
    }
  }
}
