#if canImport(CCurl)
  import CCurl
  import Foundation
  import HTTPTransport
  import HTTPTypes

  /// One libcurl easy handle with every option set, and what it points at.
  final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private let message: UnsafeMutablePointer<CChar>
    private let fields: UnsafeMutablePointer<curl_slist>?

    /// A handle that calls `transfer` back, which has to outlive it.
    init(for transfer: Transfer, bodyLength: Int64?) throws(TransportError) {
      guard let pointer = curl_easy_init() else { throw .connectionFailed("libcurl has no handle left") }
      self.pointer = pointer
      message = .allocate(capacity: Int(CURL_ERROR_SIZE))
      message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
      fields = Self.makeList(of: transfer.request.fields, asksFirst: bodyLength ?? 0 >= Self.largeBody)
      guard
        setConnection(to: transfer.request, timeouts: transfer.timeouts),
        setMethod(of: transfer.request, bodyLength: bodyLength),
        setCallbacks(to: transfer)
      else { throw .invalidRequest("libcurl refuses an option: \(String(cString: message))") }
    }

    deinit {
      curl_easy_cleanup(pointer)
      curl_slist_free_all(fields)
      message.deallocate()
    }

    /// libcurl's words for what went wrong, or the code's.
    func message(for code: CURLcode) -> String {
      let own = String(cString: message)
      let text = own.isEmpty ? String(cString: curl_easy_strerror(code)) : own
      return String(text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
    }

    private func setConnection(to request: CheckedRequest, timeouts: TransportTimeouts) -> Bool {
      let milliseconds = (timeouts.connect * 1000).rounded(.up)
      return set(CURLOPT_URL, request.url)
        && set(CURLOPT_PATH_AS_IS, 1)
        && snapshot_curl_allow_http_alone(pointer) == CURLE_OK
        && set(CURLOPT_FOLLOWLOCATION, 0)
        && set(CURLOPT_NOSIGNAL, 1)
        && set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(1, min(milliseconds, 86_400_000))))
        && set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        && set(CURLOPT_SSL_VERIFYPEER, 1)
        && set(CURLOPT_SSL_VERIFYHOST, 2)
        && set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // An empty name means no proxy, whatever the environment says.
        && (!request.authority.isLoopback || set(CURLOPT_PROXY, ""))
        && snapshot_curl_set_pointer(pointer, CURLOPT_ERRORBUFFER, message) == CURLE_OK
        && snapshot_curl_set_fields(pointer, fields) == CURLE_OK
    }

    private func setMethod(of request: CheckedRequest, bodyLength: Int64?) -> Bool {
      // libcurl repeats a request by itself when a kept connection turns out to be closed. Where a repetition
      // might do something twice, a connection that was never used leaves no room for that.
      guard request.isRepeatable || set(CURLOPT_FRESH_CONNECT, 1) else { return false }
      let method = request.request.method
      let length = bodyLength ?? ([.post, .put, .patch].contains(method) ? 0 : nil)
      if let length {
        return set(CURLOPT_UPLOAD, 1)
          && snapshot_curl_set_offset(pointer, CURLOPT_INFILESIZE_LARGE, curl_off_t(length)) == CURLE_OK
          && set(CURLOPT_CUSTOMREQUEST, method.rawValue)
      }
      switch method {
      case .get: return set(CURLOPT_HTTPGET, 1)
      case .head: return set(CURLOPT_NOBODY, 1)
      default: return set(CURLOPT_CUSTOMREQUEST, method.rawValue)
      }
    }

    private func set(_ option: CURLoption, _ value: Int) -> Bool {
      snapshot_curl_set_long(pointer, option, value) == CURLE_OK
    }

    private func set(_ option: CURLoption, _ value: String) -> Bool {
      snapshot_curl_set_string(pointer, option, value) == CURLE_OK
    }

    /// From how many bytes on a body waits for the server's `100 Continue`, so that a refusal comes first.
    private static let largeBody: Int64 = 1024 * 1024

    private static func makeList(of fields: HTTPFields, asksFirst: Bool) -> UnsafeMutablePointer<curl_slist>?
    {
      // libcurl asks first before every upload; for a small one that costs more than it saves.
      var list = asksFirst ? nil : curl_slist_append(nil, "Expect:")
      for field in fields {
        // "Name:" would remove a field, "Name;" sends one that is empty.
        var line = Array(field.name.rawName.utf8)
        field.withUnsafeBytesOfValue { value in
          line += value.isEmpty ? [UInt8(ascii: ";")] : Array(": ".utf8)
          line += value
        }
        line.append(0)
        line.withUnsafeBufferPointer { bytes in
          bytes.withMemoryRebound(to: CChar.self) { list = curl_slist_append(list, $0.baseAddress) ?? list }
        }
      }
      return list
    }
  }
#endif
