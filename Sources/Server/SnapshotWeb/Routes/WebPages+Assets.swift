import HTTPEngine
import HTTPSemantics
import HTTPTypes
package import SnapshotAPI

extension WebPages {
  /// What pages need besides their HTML: open to all, and the same for all.
  package static let assets = Endpoint.asset("readAsset", "/assets/{name}") { call in
    guard let asset = PageAsset.named(try call.value(of: .assetName)) else { throw HTTPProblem.noSuchPath() }
    return try Representation(
      .bytes(asset.bytes), contentType: asset.mediaType, entityTag: .strong(asset.name),
      headerFields: [
        // The name changes with the bytes.
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
