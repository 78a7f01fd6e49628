import RawStructuredFieldValues

/// Fields whose value is a single item (RFC 9651 §3.3). A value of another type counts as missing, as the definitions
/// of such fields require.
public enum StructuredItem {
  /// Reads a non-negative integer.
  public static func count(_ text: String?) -> Int64? {
    guard case .integer(let number) = item(text), number >= 0 else { return nil }
    return number
  }

  /// Reads a boolean: `?1` or `?0`.
  public static func boolean(_ text: String?) -> Bool? {
    guard case .bool(let value) = item(text) else { return nil }
    return value
  }

  /// Returns a boolean as written in a field.
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
