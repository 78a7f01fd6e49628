/// How much is shown on one page, so that none is larger than 60 KB, whatever a snapshot holds.
package enum PageLimits {
  /// The most rows of a list.
  package static let rows = 50
  /// The most modules.
  package static let modules = 50
  /// The most names in a row: missing identifiers, redaction rules.
  package static let names = 20
  /// The most lines of a preview.
  package static let lines = 1000
  /// The most pictures that are shown at once.
  package static let pictures = 4
}
