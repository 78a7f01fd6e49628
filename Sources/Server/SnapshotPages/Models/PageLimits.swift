/// How much is shown on one page, so that none is larger than 60 KB, whatever a snapshot holds.
public enum PageLimits {
  /// The most rows of a list.
  public static let rows = 50
  /// The most modules.
  public static let modules = 50
  /// The most names in a row: missing identifiers, redaction rules.
  public static let names = 20
  /// The most lines of a preview.
  public static let lines = 1000
  /// The most pictures that are shown at once.
  public static let pictures = 4
}
