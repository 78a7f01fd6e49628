package import HTTPTypes

/// A request in which nothing can be mistaken for something else on the wire.
package struct CheckedRequest: Sendable {
  /// The request itself.
  package let request: HTTPRequest
  /// Its absolute URL: visible ASCII, no user information, no fragment.
  package let url: String
  /// The part of the URL that names the server.
  package let authority: Authority

  /// Takes `request` if all of it is fit to be sent, else throws ``TransportError/invalidRequest(_:)``.
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
      throw .invalidRequest("the path holds a character that has to be percent-encoded")
    }
    guard request.method != .connect else { throw .invalidRequest("CONNECT is no request for a resource") }
    for field in request.headerFields {
      if Self.reserved.contains(field.name) {
        throw .invalidRequest("the field \(field.name.rawName) is the transport's to set")
      }
      // The type itself puts spaces in their place today; what hangs on it is worth a second look.
      let isClean = unsafe field.withUnsafeBytesOfValue { bytes in
        unsafe bytes.allSatisfy { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
      }
      guard isClean else {
        throw .invalidRequest("the field \(field.name.rawName) holds a line break or a NUL")
      }
    }
    self.request = request
    self.authority = authority
    url = "\(scheme)://\(authority.text)\(path)"
  }

  /// The request's fields, with the one that asks for bytes as they are where none speaks of codings.
  package var fields: HTTPFields {
    var fields = request.headerFields
    if fields[.acceptEncoding] == nil { fields[.acceptEncoding] = "identity" }
    return fields
  }

  /// Whether to send it twice has the effect of sending it once: by its method, or because the server can tell by the
  /// offset of its bytes that it has them (draft-ietf-httpbis-resumable-upload §4.4).
  package var isRepeatable: Bool {
    request.method.isIdempotent || Self.uploadOffset.map { request.headerFields.contains($0) } ?? false
  }

  /// Whether the request begins or continues a resumable upload, so that the system's own resumption is to keep out.
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
  /// Whether to do it twice has the effect of doing it once (RFC 9110 §9.2.2).
  package var isIdempotent: Bool { [.get, .head, .put, .delete, .options, .trace].contains(self) }
}
