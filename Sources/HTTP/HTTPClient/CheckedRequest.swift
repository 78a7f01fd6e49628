package import HTTPTypes

/// A request that was checked to be unambiguous on the wire.
package struct CheckedRequest: Sendable {
  /// The request itself.
  package let request: HTTPRequest
  /// The absolute URL: visible ASCII, without user information and fragment.
  package let url: String
  /// The part of the URL that identifies the server.
  package let authority: Authority

  /// Checks `request`. Throws ``TransportError/invalidRequest(_:)`` if a part of it can't be sent.
  package init(_ request: HTTPRequest) throws(TransportError) {
    guard let scheme = request.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
      throw .invalidRequest("the scheme is neither http nor https")
    }
    guard let text = request.authority, let authority = Authority(text) else {
      throw .invalidRequest("the authority is not a host with or without a port")
    }
    guard let path = request.path, path.first == "/" else {
      throw .invalidRequest("the path does not start with a slash")
    }
    guard path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
      throw .invalidRequest("the path contains a character that must be percent-encoded")
    }
    guard request.method != .connect else { throw .invalidRequest("CONNECT is not supported") }
    for field in request.headerFields {
      if Self.reserved.contains(field.name) {
        throw .invalidRequest("only the transport can set the field \(field.name.rawName)")
      }
      // `HTTPField` replaces such characters with spaces today. Request smuggling is too severe to rely on that alone.
      let isClean = unsafe field.withUnsafeBytesOfValue { bytes in
        unsafe bytes.allSatisfy { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
      }
      guard isClean else {
        throw .invalidRequest("the field \(field.name.rawName) contains a line break or a NUL")
      }
    }
    self.request = request
    self.authority = authority
    url = "\(scheme)://\(authority.text)\(path)"
  }

  /// The request's fields. Adds `Accept-Encoding: identity` if the request has no `Accept-Encoding`.
  package var fields: HTTPFields {
    var fields = request.headerFields
    if fields[.acceptEncoding] == nil { fields[.acceptEncoding] = "identity" }
    return fields
  }

  /// Whether sending the request twice has the effect of sending it once: its method is idempotent, or the server
  /// detects bytes that it already has by `Upload-Offset` (draft-ietf-httpbis-resumable-upload §4.4).
  package var isRepeatable: Bool {
    request.method.isIdempotent || Self.uploadOffset.map { request.headerFields.contains($0) } ?? false
  }

  /// Whether the request starts or continues a resumable upload, for which the system's own resumption must not be
  /// used.
  package var isPartOfUpload: Bool {
    Self.uploadComplete.map { request.headerFields.contains($0) } ?? false
  }

  private static let uploadOffset = HTTPField.Name("Upload-Offset")
  private static let uploadComplete = HTTPField.Name("Upload-Complete")
  private static let reserved: Set<HTTPField.Name> = Set(
    ["Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "TE", "Trailer", "Expect", "Host"]
      .compactMap { HTTPField.Name($0) })
}

extension HTTPRequest.Method {
  /// Whether the method has the same effect when it is executed twice (RFC 9110 §9.2.2).
  package var isIdempotent: Bool { [.get, .head, .put, .delete, .options, .trace].contains(self) }
}
