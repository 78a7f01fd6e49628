import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTLS
import HTTPClient
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import SnapshotServer
import SystemIO

/// Examines a running server: on this machine, and through the address that others use.
struct ServerExamination {
  private static let timeout = 15.0
  /// The difference in seconds between two clocks that is not worth a finding.
  private static let tolerance = 30.0
  /// An address for documentation (RFC 5737), which no client has.
  private static let forged = "203.0.113.99"

  let settings: ServerSettings
  private let pin: KeyPin?
  private let trail: RequestTrail

  /// - Parameter pin: the pin of the server's own certificate; `nil` without HTTPS.
  init(_ settings: ServerSettings, pin: KeyPin? = nil) {
    self.settings = settings
    self.pin = pin
    trail = RequestTrail(storage: settings.storage)
  }

  // MARK: This machine

  /// Examines the server that listens at the address in the settings.
  func runLocally() async -> [Finding] {
    if settings.socket != nil || settings.proxyProtocol { return examineListening() }
    guard let address = settings.localAddress else { return [] }
    let trust = ServerTrust(local: pin)
    switch await get("\(settings.tls.isEnabled ? "https" : "http")://\(address)/readyz", trust: trust) {
    case .failure(let error):
      return [
        .warning(
          "server", "No server answers at \(address): \(error.text)",
          mend: Self.startMend)
      ]
    case .success(let response):
      let body = String(decoding: response.body.prefix(500), as: UTF8.self)
      guard response.head.status == .ok else {
        return [
          .error(
            "server", "The server at \(address) is not ready (\(response.head.status.code)): \(body)",
            mend: "See its log; /readyz names the reason.")
        ]
      }
      if let reason = Self.deletionsHeld(response.body) {
        return [.warning("server", "The server at \(address) is ready. \(reason)", mend: Self.clockMend)]
      }
      return [.ok("server", "The server at \(address) is ready: \(body)")]
    }
  }

  /// Examines whether a server listens where only a proxy can send requests.
  private func examineListening() -> [Finding] {
    guard let path = settings.socket else {
      return [
        .ok(
          "server",
          "Only proxies can send requests (server.proxyProtocol): --url examines the server through one.")
      ]
    }
    do {
      guard try UnixListener.isListening(path) else {
        return [.warning("server", "No server listens at \(path).", mend: Self.startMend)]
      }
      return [.ok("server", "A server listens at \(path): --url examines it through the proxy.")]
    } catch {
      return [
        .warning(
          "server", "Whether a server listens at \(path) is unknown: \(error)",
          mend: "Run this command as the user of the server.")
      ]
    }
  }

  private static let startMend = "Start it: `systemctl start snapshot`, or `snapshot serve`."
  private static let clockMend = "Correct the clock: `timedatectl set-ntp true`, or install chrony."

  /// Why the server deletes nothing automatically, in the body of `/readyz`.
  private static func deletionsHeld(_ body: Data) -> String? {
    struct Readiness: Decodable { let deletionsHeld: String? }
    // A server of another kind may answer anything.
    do { return try SnapshotJSON.decode(Readiness.self, from: body).deletionsHeld } catch { return nil }
  }

  // MARK: Through a proxy

  /// Examines the server through the address that others use: certificate, proxy and its fields.
  func run(through url: URL) async -> [Finding] {
    let base = url.absoluteString.hasSuffix("/") ? String(url.absoluteString.dropLast()) : url.absoluteString
    let isLocal =
      url.host().map { ["localhost", "localhost."].contains($0) || IPAddress($0)?.isLoopback == true }
      ?? false
    var findings: [Finding] = []
    if url.scheme == "http", !isLocal {
      findings.append(
        .error(
          "certificate", "\(base) does not use TLS: tokens and data can be read on the way.",
          mend: "Put a proxy with a certificate in front of the server; see Deploying."))
    }
    // Two different calls, because similar refusals share a line of the audit log.
    let (id, forgedID) = ("doctor-\(UUID().uuidString)", "doctor-\(UUID().uuidString)")
    switch await get(base + "/v1/snapshots", ["X-Request-Id": id]) {
    case .failure(let error):
      let mend = "Check the name, the certificate (`openssl s_client -connect`) and the log of the proxy."
      return findings + [.error("certificate", "\(base) can't be reached: \(error.text)", mend: mend)]
    case .success(let response):
      if url.scheme == "https" { findings.append(.ok("certificate", "The certificate of \(base) is valid.")) }
      findings += examine(response, base, id)
      findings += await examineSlash(base, expecting: response.head.status.code)
    }
    if case .success = await get(
      base + "/v1/scrub", ["X-Request-Id": forgedID, forwarding.name: forwarding.value])
    {
      findings += addresses(id, forgedID, isLocal: isLocal)
    }
    return findings
  }

  /// Examines whether `%2F` in a path remains: report ids can contain slashes.
  private func examineSlash(_ base: String, expecting status: Int) async -> [Finding] {
    guard [200, 401].contains(status),
      case .success(let response) = await get(base + "/v1/reports/doctor%2Fslash/snapshots")
    else { return [] }
    let answer = response.head.status.code
    guard answer != status else {
      return [.ok("proxy", "Report ids can contain slashes: %2F in a path reaches the server unchanged.")]
    }
    return [
      .error(
        "proxy",
        "\(base) answers \(answer) to a path with %2F: reports whose ids contain slashes can't be used.",
        mend:
          "Let the proxy forward the path as it was sent: in nginx, `proxy_pass` without a path; see Deploying."
      )
    ]
  }

  private func examine(_ response: TransportResponse, _ base: String, _ id: String) -> [Finding] {
    var findings: [Finding] = []
    let status = response.head.status.code
    if ![200, 401].contains(status) {
      findings.append(
        .error(
          "proxy", "\(base) answers \(status) instead of 200 or 401.",
          mend: "Check to which address the proxy forwards, and its log."))
    } else if value(of: "X-Request-Id", in: response) != id {
      findings.append(
        .error(
          "proxy", "The response of \(base) does not come from this server: it has another X-Request-Id.",
          mend: "Check to which address the proxy forwards, and that it forwards all fields."))
    }
    if let date = value(of: "Date", in: response).flatMap({ HTTPDate($0) }),
      abs(Double(date.secondsSince1970) - Double(SystemClock.unixSeconds)) > Self.tolerance
    {
      findings.append(
        .error(
          "clock", "The clocks of this machine and of \(base) differ.",
          mend: "Synchronize both: `timedatectl set-ntp true`, or install chrony."))
    }
    return findings
  }

  /// The field in which the proxy names the client, and its value with a forged address.
  private var forwarding: (name: String, value: String) {
    switch settings.forwardingFields {
    case .forwarded: ("Forwarded", "for=\(Self.forged)")
    case .xForwarded: ("X-Forwarded-For", Self.forged)
    }
  }

  /// Compares the client's addresses in the audit log.
  private func addresses(_ id: String, _ forgedID: String, isLocal: Bool) -> [Finding] {
    guard let seen = trail.address(of: id) else {
      return [
        .warning(
          "proxy", "The requests are not in the audit log of \(settings.storage).",
          mend: "Run this command on the machine of the server, with its settings (--config).")
      ]
    }
    var findings: [Finding] = []
    let address = IPAddress(seen)
    let isSocket = seen == TrustedProxy.unix.description
    let isProxy = (address != nil || isSocket) && settings.trustedProxies.contains { $0.contains(address) }
    if isProxy {
      findings.append(
        .error(
          "proxy", "The proxy \(seen) does not name the client in the field \(forwarding.name).",
          mend: "Let it set the field, as in the examples of Deploying."))
    } else if isSocket || !isLocal && address?.isLoopback == true {
      findings.append(
        .error(
          "proxy", "The server sees all clients as \(seen): limits and the audit log are of no use.",
          mend: "Name the proxy in trustedProxies, and let it set the field \(forwarding.name)."))
    } else {
      findings.append(
        .ok(
          "proxy", "The server sees this client as \(seen), which should be its address and not the proxy's.")
      )
    }
    if trail.address(of: forgedID) == Self.forged {
      findings.append(
        .error(
          "proxy",
          "The proxy forwards the field \(forwarding.name) of clients, so that they can choose their address.",
          mend: "Let it replace the field, as in the examples of Deploying."))
    }
    return findings
  }

  // MARK: Requests

  private struct Failure: Error { let text: String }

  private func get(
    _ url: String, _ fields: [String: String] = [:], trust: ServerTrust = .system
  ) async -> Result<TransportResponse, Failure> {
    guard let url = URL(string: url), let host = url.host(percentEncoded: true) else {
      return .failure(Failure(text: "‘\(url)’ is not a URL."))
    }
    let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    var request = HTTPRequest(
      method: .get, scheme: url.scheme, authority: url.port.map { "\(name):\($0)" } ?? name, path: url.path())
    for (name, value) in fields {
      if let name = HTTPField.Name(name) { request.headerFields[name] = value }
    }
    var timeouts = TransportTimeouts()
    timeouts.connect = Self.timeout
    timeouts.total = Self.timeout
    do {
      let transport = SnapshotAPIClient.makeDefaultTransport(trust: trust)
      return .success(
        try await transport.send(
          request, body: .none, destination: .memory(limit: 1 << 20), timeouts: timeouts, events: nil))
    } catch {
      return .failure(Failure(text: "\(error)"))
    }
  }

  private func value(of name: String, in response: TransportResponse) -> String? {
    HTTPField.Name(name).flatMap { response.head.headerFields[$0] }
  }
}

extension ServerSettings {
  /// The address at which this machine reaches the server; `nil` if the settings have no valid host.
  var localAddress: SocketAddress? {
    let host = ["0.0.0.0", "::"].contains(host) ? "127.0.0.1" : host
    return SocketAddress(host: host, port: UInt16(clamping: port))
  }
}

extension ServerTrust {
  /// How this machine recognizes its own server, whose certificate need not be valid for the local address.
  /// - Parameter pin: the pin of the certificate; `nil` without HTTPS.
  init(local pin: KeyPin?) {
    self = pin.flatMap { ServerPin($0.description) }.map { .pinned($0) } ?? .system
  }
}

/// Finds requests in the audit logs of a storage folder.
struct RequestTrail: Sendable {
  /// The bytes at the end of each log that are searched.
  private static let searchedBytes: Int64 = 256 << 10

  let storage: String

  /// The address of the client of a request, without its port; `nil` if the logs do not have it.
  func address(of id: String) -> String? {
    for name in ["audit-refused.log", "audit.log"] {
      guard let line = lines(of: name).last(where: { $0.contains("\"request\":\"\(id)\"") }),
        let address = line.firstMatch(of: /"address":"([^"]+)"/)?.1
      else { continue }
      return Self.host(String(address))
    }
    return nil
  }

  private func lines(of name: String) -> [Substring] {
    do {
      let file = try File("\(storage)/\(name)")
      let start = max(try file.size - Self.searchedBytes, 0)
      let bytes = try file.read(upTo: Int(Self.searchedBytes), at: start)
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    } catch {
      // A log that can't be read does not have the request; the caller says so.
      return []
    }
  }

  /// `192.0.2.1:80`, `[::1]:80` or an address alone.
  private static func host(_ text: String) -> String {
    if text.first == "[" { return String(text.dropFirst().prefix { $0 != "]" }) }
    return text.count { $0 == ":" } == 1 ? String(text.prefix { $0 != ":" }) : text
  }
}
