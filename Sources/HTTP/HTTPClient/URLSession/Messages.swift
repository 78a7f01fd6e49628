#if canImport(Darwin) || DEBUG
  import HTTPTypes

  #if canImport(FoundationNetworking)
    import Foundation
    import FoundationNetworking
  #else
    import Foundation
  #endif

  extension URLRequest {
    /// Converts a request.
    init(_ request: CheckedRequest) throws(TransportError) {
      guard let url = URL(string: request.url) else { throw .invalidRequest("the URL can't be read") }
      self.init(url: url)
      httpMethod = request.request.method.rawValue
      for field in request.fields { addValue(field.value, forHTTPHeaderField: field.name.rawName) }
    }
  }

  extension HTTPResponse {
    /// Converts a response.
    init(_ response: URLResponse) throws(TransportError) {
      guard let response = response as? HTTPURLResponse, (100...999).contains(response.statusCode) else {
        throw .interrupted("the response is not HTTP")
      }
      var fields = HTTPFields()
      for (name, value) in response.allHeaderFields {
        guard let text = name as? String, let name = HTTPField.Name(text), let value = value as? String else {
          throw .interrupted("the response has a line that is not a field")
        }
        fields.append(HTTPField(name: name, value: value))
      }
      self.init(status: .init(code: response.statusCode), headerFields: fields)
    }
  }

  extension URLSessionConfiguration {
    /// Lets sessions store neither responses nor credentials nor cookies, and require TLS 1.2.
    func keepNothing() {
      urlCache = nil
      urlCredentialStorage = nil
      httpCookieStorage = nil
      httpShouldSetCookies = false
      httpCookieAcceptPolicy = .never
      requestCachePolicy = .reloadIgnoringLocalCacheData
      #if canImport(Darwin)
        tlsMinimumSupportedProtocolVersion = .TLSv12
      #endif
    }
  }
#endif
