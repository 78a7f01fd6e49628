#if canImport(CCurl)
  import CCurl
  import Glibc

  extension EasyHandle {
    /// Makes libcurl call `transfer`'s methods.
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

  /// Keeps what the system holds unsent small, so that progress is true, and a slow line is not taken for an idle
  /// one while megabytes still wait in the socket. A system that can't do so sends as well.
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
