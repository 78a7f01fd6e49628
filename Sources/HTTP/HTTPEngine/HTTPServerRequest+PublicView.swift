import HTTPSemantics
package import HTTPTypes

/// What the client of a proxy sees of a request, where it differs from what the server received.
struct PublicView: Sendable {
  let path: String
  let basePath: String
  let authority: String
  let isSecure: Bool
  /// Whether the client uses the server's public address.
  let isPublicAddress: Bool
  /// Whether the proxy passed on the authority that the client sent.
  let keepsAuthority: Bool
}

extension HTTPServerRequest {
  /// The path below which the client sees this server: empty, or such as `/snapshots`. ``path`` does not include it.
  public var basePath: String { view?.basePath ?? "" }

  /// The URL of this server that the client uses, without `/` at its end; `nil` if the server does not know it.
  public var publicURL: String? {
    view.flatMap { view in
      guard view.isPublicAddress else { return nil }
      return "\(view.isSecure ? "https" : "http")://\(view.authority)\(view.basePath)"
    }
  }

  /// Returns the request as the client of a trusted proxy sees it, at the path `path` below that of `view`.
  package func seen(at path: String, of view: ForwardedView) -> HTTPServerRequest {
    seen(
      as: PublicView(
        path: path, basePath: view.basePath ?? "", authority: view.authority ?? authority,
        isSecure: view.isSecure ?? isSecure, isPublicAddress: false, keepsAuthority: true))
  }

  private func seen(as view: PublicView) -> HTTPServerRequest {
    var request = self
    request.view = view
    return request
  }

  /// ``publicURL``, if the client itself has stated its authority; `nil` if the server has assumed it.
  package var statedURL: String? { view?.keepsAuthority == true ? publicURL : nil }

  /// Returns the request as the client of a proxy sees it. ``publicURL`` is known if there is an `address`.
  ///
  /// - Parameters:
  ///   - path: the path below `basePath`.
  ///   - basePath: the path below which the client sees this server.
  ///   - address: the address that the client uses; `nil` if it is that of the received request.
  public func seen(at path: String, below basePath: String, of address: PublicAddress?) -> HTTPServerRequest {
    seen(
      as: PublicView(
        path: path, basePath: basePath, authority: address?.authority ?? authority,
        isSecure: address?.isSecure ?? isSecure, isPublicAddress: address != nil,
        keepsAuthority: address.map { $0.authority == authority.lowercased() } ?? true))
  }
}

extension HTTPFields {
  /// Returns the fields of a response with `basePath` before the paths in `Location` and `Link`. Complete URLs are kept.
  package func below(_ basePath: String) -> HTTPFields {
    guard !basePath.isEmpty else { return self }
    var fields = self
    if let location = fields[.location], location.hasPrefix("/"), !location.hasPrefix("//") {
      fields[.location] = basePath + location
    }
    if let link = fields[.link], link.hasPrefix("</"), !link.hasPrefix("<//") {
      fields[.link] = "<" + basePath + link.dropFirst()
    }
    return fields
  }
}
