/// The product's version (Semantic Versioning), as the changelog counts it.
enum ProductVersion {
  /// The release that this is, or is on the way to.
  static let current = "0.1.0"
}
