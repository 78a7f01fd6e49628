import SnapshotFormat

/// What the pages need besides their HTML: served as it is, and kept by browsers for good, for its name changes with
/// its bytes.
package struct PageAsset: Sendable, Hashable {
  /// The last part of its path: `pages.0f3c5a7b9d1e.css`.
  package let name: String
  /// Its media type.
  package let mediaType: String
  /// Its bytes.
  package let bytes: [UInt8]

  private init(_ stem: String, _ ending: String, _ mediaType: String, _ bytes: [UInt8]) {
    name = "\(stem).\(ContentDigest.of(bytes).description.prefix(12)).\(ending)"
    self.mediaType = mediaType
    self.bytes = bytes
  }

  /// The style sheet.
  package static let stylesheet = PageAsset(
    "pages", "css", "text/css; charset=utf-8", PackageResources.pages_css)
  /// The script, without which everything works as well.
  package static let script = PageAsset(
    "pages", "js", "text/javascript; charset=utf-8", PackageResources.pages_js)
  /// The picture that browsers show beside a page's title.
  package static let icon = PageAsset("icon", "svg", "image/svg+xml", PackageResources.icon_svg)

  /// All of them.
  package static let all = [stylesheet, script, icon]

  /// The asset of that name.
  package static func named(_ name: String) -> PageAsset? { all.first { $0.name == name } }
}
