import HTTPEngine
import HTTPSemantics
import HTTPTypes
package import SnapshotAPI
import SnapshotFormat

/// A file that pages need besides their HTML. Browsers cache it permanently, because its name changes with its bytes.
struct PageAsset: Sendable, Hashable {
  /// The last segment of its path, such as `pages.0f3c5a7b9d1e.css`.
  let name: String
  /// The media type.
  let mediaType: String
  /// The contents.
  let bytes: [UInt8]

  private init(_ stem: String, _ ending: String, _ mediaType: String, _ bytes: [UInt8]) {
    name = "\(stem).\(ContentDigest.of(bytes).description.prefix(12)).\(ending)"
    self.mediaType = mediaType
    self.bytes = bytes
  }

  /// The style sheet.
  static let stylesheet = PageAsset(
    "pages", "css", "text/css; charset=utf-8", PackageResources.pages_css)
  /// The script. The pages also work without it.
  static let script = PageAsset(
    "pages", "js", "text/javascript; charset=utf-8", PackageResources.pages_js)
  /// The script that uploads bundles, on pages with a form for that. The form also works without it.
  static let uploadScript = PageAsset(
    "upload", "js", "text/javascript; charset=utf-8", PackageResources.upload_js)
  /// The script that packs other files and folders into a bundle, for the script that uploads it.
  static let packScript = PageAsset(
    "pack", "js", "text/javascript; charset=utf-8", PackageResources.pack_js)
  /// The icon that browsers show next to a page's title.
  static let icon = PageAsset("icon", "svg", "image/svg+xml", PackageResources.icon_svg)

  /// All assets.
  static let all = [stylesheet, script, packScript, uploadScript, icon]
  /// The addresses of the scripts of a form for uploads, in their order.
  static let uploadScripts = [packScript, uploadScript].map { PagePath.asset($0).description }

  /// Returns the asset with this name, or `nil`.
  static func named(_ name: String) -> PageAsset? { all.first { $0.name == name } }
}

extension WebPages {
  /// The endpoint for assets. It needs no permission.
  package static let assets = Endpoint.asset("readAsset", "/assets/{name}") { call in
    guard let asset = PageAsset.named(try call.value(of: .assetName)) else { throw HTTPProblem.noSuchPath() }
    return try Representation(
      .bytes(asset.bytes), contentType: asset.mediaType, entityTag: .strong(asset.name),
      headerFields: [
        // A change of the bytes changes the name.
        .cacheControl: "public, max-age=31536000, immutable",
        .crossOriginResourcePolicy: "same-origin",
        .contentSecurityPolicy: "default-src 'none'; sandbox",
      ]
    ).response(to: call.request)
  }
}

extension PathParameter where Value == String {
  fileprivate static var assetName: PathParameter<String> { PathParameter("name") { $0 } }
}
