import RawStructuredFieldValues

/// Fields that hold one value (RFC 9651 §3.3). What is no such value counts as not sent, as those who define such fields
/// want it.
public enum StructuredItem {
  /// The number from 0 on that `text` is.
  public static func count(_ text: String?) -> Int64? {
    guard case .integer(let number) = item(text), number >= 0 else { return nil }
    return number
  }

  /// The truth value that `text` is: `?1` or `?0`.
  public static func boolean(_ text: String?) -> Bool? {
    guard case .bool(let value) = item(text) else { return nil }
    return value
  }

  /// How a truth value is written.
  public static func text(_ value: Bool) -> String { value ? "?1" : "?0" }

  private static func item(_ text: String?) -> RFC9651BareItem? {
    guard let text else { return nil }
    do {
      var parser = StructuredFieldValueParser(Array(text.utf8))
      return try parser.parseItemFieldValue().rfc9651BareItem
    } catch {
      return nil
    }
  }
}
