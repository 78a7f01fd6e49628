#if canImport(CCurl)
  import CCurl
  import Foundation
  import HTTPTypes
  import SystemIO

  /// A libcurl easy handle with all its options, which owns the memory that they point to.
  final class EasyHandle {
    let pointer: UnsafeMutableRawPointer
    private let message: UnsafeMutablePointer<CChar>
    private let fields: UnsafeMutablePointer<curl_slist>?
    /// Where to connect; `nil` for an address of the URL's host.
    private let target: UnsafeMutablePointer<curl_slist>?

    /// Creates a handle that calls back `transfer`, which must outlive the handle.
    init(for transfer: Transfer, bodyLength: Int64?) throws(TransportError) {
      guard let pointer = curl_easy_init() else { throw .connectionFailed("libcurl has no handle left") }
      self.pointer = pointer
      message = .allocate(capacity: Int(CURL_ERROR_SIZE))
      message.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
      fields = Self.makeList(of: transfer.request.fields, asksFirst: bodyLength ?? 0 >= Self.largeBody)
      // Without a host and a port before it, the target replaces every one.
      target = transfer.address.flatMap { curl_slist_append(nil, "::\($0)") }
      guard
        setConnection(to: transfer.request, timeouts: transfer.timeouts),
        setTarget(transfer.address),
        setTrust(transfer.trust),
        setMethod(of: transfer.request, bodyLength: bodyLength),
        setCallbacks(to: transfer)
      else { throw .invalidRequest("libcurl rejects an option: \(String(cString: message))") }
    }

    deinit {
      curl_easy_cleanup(pointer)
      curl_slist_free_all(fields)
      curl_slist_free_all(target)
      message.deallocate()
    }

    /// Returns libcurl's message for the last error, or a general text for `code` if there is none.
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
        && set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        && set(CURLOPT_BUFFERSIZE, Self.bufferBytes)
        && set(CURLOPT_UPLOAD_BUFFERSIZE, Self.bufferBytes)
        // An empty name disables proxies, including those from the environment.
        && (!request.authority.isLoopback || set(CURLOPT_PROXY, ""))
        && snapshot_curl_set_pointer(pointer, CURLOPT_ERRORBUFFER, message) == CURLE_OK
        && snapshot_curl_set_fields(pointer, fields) == CURLE_OK
    }

    /// Connects to `address`, if there is one, and to nothing else.
    private func setTarget(_ address: SocketAddress?) -> Bool {
      guard address != nil else { return true }
      return target != nil
        && snapshot_curl_set_list(pointer, CURLOPT_CONNECT_TO, target) == CURLE_OK
        && set(CURLOPT_PROXY, "")
        && set(CURLOPT_FRESH_CONNECT, 1)
        && set(CURLOPT_FORBID_REUSE, 1)
    }

    private func setTrust(_ trust: ServerTrust) -> Bool {
      switch trust {
      case .system: return set(CURLOPT_SSL_VERIFYPEER, 1) && set(CURLOPT_SSL_VERIFYHOST, 2)
      case .pinned(let pin):
        // libcurl compares the key whether or not it verifies the certificate.
        return set(CURLOPT_PINNEDPUBLICKEY, pin.description)
          && set(CURLOPT_SSL_VERIFYPEER, 0) && set(CURLOPT_SSL_VERIFYHOST, 0)
      case .authorities(let file):
        return set(CURLOPT_CAINFO, file.path)
          && set(CURLOPT_SSL_VERIFYPEER, 1) && set(CURLOPT_SSL_VERIFYHOST, 2)
      }
    }

    private func setMethod(of request: CheckedRequest, bodyLength: Int64?) -> Bool {
      // libcurl repeats a request automatically if a reused connection turns out to be closed. A new connection
      // prevents this for requests that must not be executed twice.
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

    /// The size in bytes of the buffers for receiving and for sending. With the defaults of 16 KiB
    /// and 64 KiB, large bodies take many more system calls.
    private static let bufferBytes = 256 * 1024

    /// The size in bytes from which a body waits for `100 Continue`, so that the server can refuse it before it is
    /// sent.
    private static let largeBody: Int64 = 1024 * 1024

    private static func makeList(of fields: HTTPFields, asksFirst: Bool) -> UnsafeMutablePointer<curl_slist>?
    {
      // libcurl sends `Expect` with every upload; for a small body the round trip costs more than it saves.
      var list = asksFirst ? nil : curl_slist_append(nil, "Expect:")
      for field in fields {
        // libcurl removes a field for "Name:" and sends an empty one for "Name;".
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

#if canImport(CCurl)
  import CCurl
  import Glibc

  extension EasyHandle {
    /// Sets `transfer`'s methods as the callbacks of libcurl.
    func setCallbacks(to transfer: Transfer) -> Bool {
      let context = Unmanaged.passUnretained(transfer).toOpaque()
      let pointed = [
        CURLOPT_PREREQDATA, CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA,
      ]
      .allSatisfy { snapshot_curl_set_pointer(pointer, $0, context) == CURLE_OK }
      return pointed
        && snapshot_curl_set_socket_function(pointer, prepareSocket) == CURLE_OK
        && snapshot_curl_set_prerequest_function(pointer, prerequest) == CURLE_OK
        && snapshot_curl_set_data_function(pointer, CURLOPT_HEADERFUNCTION, headLine) == CURLE_OK
        && snapshot_curl_set_data_function(pointer, CURLOPT_WRITEFUNCTION, writeBody) == CURLE_OK
        && snapshot_curl_set_data_function(pointer, CURLOPT_READFUNCTION, readBody) == CURLE_OK
        && snapshot_curl_set_seek_function(pointer, seekBody) == CURLE_OK
    }
  }

  private func transfer(_ context: UnsafeMutableRawPointer) -> Transfer {
    Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  }

  /// Limits the unsent data in the socket's buffer. Otherwise progress would count bytes that are not sent yet, and a
  /// slow connection would look idle while it sends megabytes from the buffer. Errors are ignored: the option is not
  /// available everywhere.
  private let prepareSocket: curl_sockopt_callback = { _, socket, purpose in
    guard purpose == CURLSOCKTYPE_IPCXN else { return CURL_SOCKOPT_OK }
    var unsent: Int32 = 128 * 1024
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, &unsent, socklen_t(MemoryLayout<Int32>.size))
    return CURL_SOCKOPT_OK
  }

  private let prerequest: curl_prereq_callback = { context, _, _, _, _ in
    guard let context else { return CURL_PREREQFUNC_ABORT }
    transfer(context).connectionStands()
    return CURL_PREREQFUNC_OK
  }

  private let headLine: curl_write_callback = { bytes, size, count, context in
    guard let bytes, let context else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer(context).takeHeadLine(line) ? line.count : 0
  }

  private let writeBody: curl_write_callback = { bytes, size, count, context in
    guard let bytes, let context else { return 0 }
    let chunk = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return transfer(context).takeBody(chunk) ? chunk.count : 0
  }

  private let readBody: curl_write_callback = { buffer, size, count, context in
    guard let buffer, let context else { return Int(CURL_READFUNC_ABORT) }
    return transfer(context).fill(UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
  }

  private let seekBody: curl_seek_callback = { context, offset, origin in
    guard let context, origin == SEEK_SET else { return CURL_SEEKFUNC_FAIL }
    return transfer(context).seek(to: Int64(offset)) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
  }
#endif
