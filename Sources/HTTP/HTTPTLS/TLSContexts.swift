import COpenSSL
import Foundation

/// The contexts of all certificates of a server, chosen by the name that a client asks for. Never changed: new
/// certificates make a new object, and sessions keep theirs.
final class TLSContexts: Sendable {
  /// The context for names that no certificate has: that of the first certificate.
  let first: TLSContext
  private let exact: [String: TLSContext]
  /// The contexts by the name without the first label, for certificates with `*`.
  private let wildcards: [String: TLSContext]

  init(
    _ configuration: TLSConfiguration, ticketKeys: TicketKeys, now: @escaping @Sendable () -> Date
  ) throws(TLSError) {
    guard !configuration.files.isEmpty else { throw TLSError("There is no certificate.") }
    let authorities = try configuration.clientAuthorities.map { (path) throws(TLSError) in
      try TLSFile.certificates(path)
    }
    // Pairs for the same names with different kinds of keys are alternatives.
    var groups: [(names: Set<String>, pairs: [TLSPair])] = []
    for files in configuration.files {
      let pair = try TLSPair(files, now: now())
      let names = Set(pair.names)
      guard let index = groups.firstIndex(where: { $0.names == names }) else {
        groups.append((names, [pair]))
        continue
      }
      if groups[index].pairs.contains(where: { $0.kind == pair.kind }) {
        let list = pair.names.joined(separator: ", ")
        throw TLSError("\(files.certificate) is a second certificate of the same kind for \(list).")
      }
      groups[index].pairs.append(pair)
    }
    var exact: [String: TLSContext] = [:]
    var wildcards: [String: TLSContext] = [:]
    var contexts: [TLSContext] = []
    for group in groups {
      let context = try TLSContext(group.pairs, clients: authorities, ticketKeys: ticketKeys, now: now)
      contexts.append(context)
      for name in group.names {
        if name.hasPrefix("*.") {
          let parent = String(name.dropFirst(2))
          if wildcards[parent] == nil { wildcards[parent] = context }
        } else if exact[name] == nil {
          exact[name] = context
        }
      }
    }
    first = contexts[0]
    self.exact = exact
    self.wildcards = wildcards
    snapshot_ssl_set_server_name_callback(
      first.pointer, chooseContext, Unmanaged.passUnretained(self).toOpaque())
  }

  /// The context for a name in a client's handshake.
  func context(for name: String) -> TLSContext {
    let name = name.lowercased()
    if let context = exact[name] { return context }
    let labels = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    return labels.count == 2 ? wildcards[String(labels[1])] ?? first : first
  }
}

/// OpenSSL's callback for the name that a client asks for.
private func chooseContext(
  _ ssl: OpaquePointer?, _ alert: UnsafeMutablePointer<Int32>?, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
  // The session retains the contexts.
  guard let ssl, let argument, let name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name) else {
    return SSL_TLSEXT_ERR_NOACK
  }
  let contexts = Unmanaged<TLSContexts>.fromOpaque(argument).takeUnretainedValue()
  let context = contexts.context(for: String(cString: name))
  if context !== contexts.first { SSL_set_SSL_CTX(ssl, context.pointer) }
  return SSL_TLSEXT_ERR_OK
}
