/// The transport of this system: libcurl on Linux, `URLSession` on Apple's platforms.
#if canImport(CCurl)
  package typealias SystemTransport = CurlTransport
#else
  package typealias SystemTransport = URLSessionTransport
#endif
