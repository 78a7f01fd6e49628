/// How much of a record a catalogue takes note of, and how much a search may ask for.
public enum SearchLimits {
  /// The most distinct words of a record, its identifiers aside, and as many of those.
  public static let words = 4000
  /// The most bytes of a word, in UTF-8; what is longer is known by its beginning.
  public static let wordBytes = 64
  /// The most modules of a record.
  public static let modules = 500
  /// The most bytes of what a filter asks for.
  public static let filterBytes = 1024
  /// The most words that a search asks for.
  public static let queryWords = 16
}
