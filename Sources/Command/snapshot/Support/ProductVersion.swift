/// The version of the product, as in the changelog (Semantic Versioning).
enum ProductVersion {
  /// The current or the next release.
  static let current = "0.1.0"
}
