import AccessControl
import FileStore
package import HTTPEngine
import Observability
import SnapshotAPI
import SnapshotWeb
import Webhooks
import SystemIO

extension ServerSettings {
  /// Throws if something in the storage folder is missing, or is not what it must be.
  package func requireSoundStorage() throws(ServerError) {
    let flaws: [StorageFlaw]
    do {
      // Servers that share their snapshots have no bundles there, and get their keys from the others.
      flaws = try shared.isEnabled ? StorageFlaw.misplaced(in: storage) : StorageFlaw.all(in: storage)
    } catch {
      throw .storage(.system(error))
    }
    if let flaw = flaws.first { throw .storage(.flawed(flaw)) }
  }
}

/// The settings of each part of a server.
extension ServerSettings {
  /// Whether the server listens on the loopback interface or a Unix socket only.
  package var isLocal: Bool { socket != nil || SocketAddress(host: host, port: 0)?.host.isLoopback ?? false }

  /// What clients or proxies connect to, for people.
  var listeningName: String { socket?.description ?? host }

  /// Why the settings of listening do not fit each other, in a sentence; `nil` if they do.
  package var listeningProblem: String? {
    if socket != nil, tls.httpPort != nil {
      return
        "The setting server.tls.httpPort redirects to a port for HTTPS; with server.socket there is none."
    }
    guard proxyProtocol else { return nil }
    if socket != nil, !trustedProxies.contains(.unix) {
      return
        "The setting server.proxyProtocol needs ‘unix’ in server.trustedProxies: all connections to server.socket "
        + "are refused otherwise."
    }
    if trustedProxies.isEmpty {
      return
        "The setting server.proxyProtocol needs server.trustedProxies: all connections are refused otherwise."
    }
    return nil
  }

  /// Parses the setting of the public address. Returns `nil` if it is not one at which the server can be.
  package static func publicAddress(_ text: String) -> PublicAddress? {
    guard let address = PublicAddress(text),
      !reservedPaths.contains(where: { reserved in
        address.basePath == reserved || address.basePath.hasPrefix(reserved + "/")
      })
    else { return nil }
    return address
  }

  /// The paths of the server itself below which any name can be one. If one of them were that of the public address,
  /// nothing would show whether a proxy has removed it from a request.
  package static let reservedPaths = ["/v1", "/reports", "/docs", "/uploads", "/assets", "/sign-in"]

  /// The settings of webhooks, with the URL with which links begin.
  var webhooksWithPublicURL: WebhookSettings {
    var settings = webhooks
    settings.linkBase = publicURL?.description ?? ""
    return settings
  }

  /// The limits of one request.
  var serviceLimits: ServiceLimits {
    var limits = ServiceLimits()
    limits.bundleBytes = maximumBundleBytes
    return limits
  }

  /// The issue tracker to which pages link.
  var issueTracker: IssueTracker {
    var issueTracker = IssueTracker()
    (issueTracker.report, issueTracker.newIssue) = (tracker, newIssue)
    return issueTracker
  }

  /// The address and limits of the HTTP engine.
  var engine: HTTPServer.Configuration {
    var configuration = HTTPServer.Configuration(host: host, port: UInt16(clamping: port))
    configuration.socketPath = socket
    configuration.socketMode = socketMode
    configuration.proxyProtocol = proxyProtocol
    if eventLoops > 0 { configuration.eventLoops = eventLoops }
    configuration.trustedProxies = trustedProxies
    configuration.forwardingFields = forwardingFields
    configuration.limits = limits
    return configuration
  }

  /// The rules of access.
  var access: AccessPolicy.Configuration {
    var configuration = AccessPolicy.Configuration(storage: storage)
    configuration.opensWithoutTokens = isLocal || insecure
    configuration.answersAnyName = insecure
    configuration.rates = rates
    configuration.users = trustedUser
    return configuration
  }

  /// The rates and quotas of callers.
  var rates: AccessRates {
    var rates = AccessRates()
    rates.token = requestsPerToken
    rates.address = requestsPerAddress
    rates.tokenQuota = uploadsPerToken
    rates.addressQuota = uploadsPerAddress
    return rates
  }

  /// How resumable uploads are offered to clients.
  var uploadOffer: ResumableUploads.Configuration {
    var offer = uploads.offer
    offer.sendsInterimAnswers = sendsInterimAnswers
    return offer
  }

  /// The audit log in the storage folder.
  var auditLog: AuditLog.Configuration {
    var configuration = AuditLog.Configuration(path: storage + "/audit.log")
    configuration.fileBytes = auditFileBytes
    configuration.keptFiles = auditFiles
    return configuration
  }
}
