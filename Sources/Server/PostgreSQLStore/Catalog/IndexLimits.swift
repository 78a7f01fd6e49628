/// The limits of the index and of searches.
enum IndexLimits {
  /// The lengths, in characters, of the beginnings of words that are terms of their own. Longer beginnings have few
  /// enough words to be looked up.
  static let prefixLengths = 2...3
  /// The maximum number of words by which the beginning of a word is replaced. If there are more, the records with its
  /// first letters are checked one by one.
  static let expansions = 5000
  /// The maximum number of words of one condition. PostgreSQL compares the places of all of them for each record that it
  /// finds.
  static let wordsOfCondition = 500
  /// The maximum number of a scope's applications or reports that are looked up as terms. With more of them the columns
  /// are compared.
  static let alternatives = 200
  /// The number of changes after which a server tidies up.
  static let tidying = 1024
  /// The number of days after which a removed id is forgotten. Only a change that a server began before the removal can
  /// insert the record again, and no change takes that long.
  static let removalDays = 7
  /// The interval at which a server checks whether another one has built the index.
  static let buildPause = Duration.seconds(1)
  /// The maximum duration of a statement of the build.
  static let buildStatement = Duration.seconds(3600)
}

/// A row of the index is not as it was written.
struct MalformedRow: Error, CustomStringConvertible {
  var description: String { "A row of the index is malformed." }
}
