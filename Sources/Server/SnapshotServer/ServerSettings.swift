package import AccessControl
package import HTTPEngine
package import Logging
package import SnapshotAPI
package import SnapshotDiff
package import SnapshotFormat
package import SnapshotStore
package import SnapshotWeb
package import SystemIO
package import Webhooks

/// The settings of a server. The defaults are those of `snapshot serve`.
package struct ServerSettings: Sendable, Hashable {
  /// The address to listen on.
  package var host = "127.0.0.1"
  /// The port to listen on; 0 selects a free one.
  package var port: Int
  /// The path of a Unix socket to listen on instead of `host` and `port`.
  package var socket: SocketPath?
  /// The permission bits of its file.
  package var socketMode: UInt16 = 0o660
  /// The folder in which bundles are stored.
  package var storage: String
  /// Whether to listen on other interfaces than loopback without any token, so that every client can read and write.
  package var insecure = false
  /// The rate limit of each token that has none of its own.
  package var requestsPerToken: RateLimit? = .defaultOfServer
  /// The rate limit of each client address. Applies once there is a token.
  package var requestsPerAddress: RateLimit? = .defaultOfServer
  /// The upload quota of each token that has none of its own.
  package var uploadsPerToken: UploadQuota?
  /// The upload quota of each client address. Applies once there is a token.
  package var uploadsPerAddress: UploadQuota?
  /// The number of event loops; 0 uses one per core.
  package var eventLoops = 0
  /// The most bytes of a bundle.
  package var maximumBundleBytes = UploadLimits().length
  /// The most bytes that all entries of a bundle may have together when inflated.
  package var maximumInflatedBytes = UploadValidator.inflatedBytes
  /// The number of bytes of the disk to leave free.
  package var reservedBytes: Int64 = 64 << 20
  /// How much of a bundle is checked before its upload is answered.
  package var validation = UploadValidator.Policy.automatic
  /// The redaction rules that the manifest of a new bundle must name.
  package var redaction = RequiredRedaction()
  /// Whether a new bundle must be sealed.
  package var sealedOnly = false
  /// Whether uploads that end at the same time share one flush of the volume.
  package var sharesFlushes = true
  /// How many seconds running requests may continue after the server was asked to stop.
  package var shutdownSeconds = 30
  /// The object store and the database, if several servers share their snapshots.
  package var shared = SharedSettings()
  /// The settings of HTTPS.
  package var tls = TLSSettings()
  /// The URL at which clients reach the server behind a proxy; `nil` if it is not known.
  package var publicURL: PublicAddress?
  /// The proxies that are trusted to name the client of a request.
  package var trustedProxies: [TrustedProxy] = []
  /// The fields in which they do so.
  package var forwardingFields = ForwardingFields.forwarded
  /// Whether every connection comes from a trusted proxy and begins with a header of the PROXY protocol.
  package var proxyProtocol = false
  /// The users who sign in at a proxy.
  package var trustedUser = TrustedUsers()
  /// The limits of the HTTP engine. The limit of a body's length follows from `maximumBundleBytes`.
  package var limits = HTTPLimits()
  /// The most bytes of an audit log file, and the number of older files to keep.
  package var auditFileBytes: Int64 = 64 << 20
  package var auditFiles = 15
  /// The settings for expiration and for the verification of stored bundles.
  package var retention = RetentionSettings()
  /// The address of a report in the issue tracker.
  package var tracker: AddressTemplate?
  /// The address of the tracker's form for a new issue.
  package var newIssue: AddressTemplate?
  /// The JSON values that comparisons on pages omit unless a visitor enters other rules.
  package var comparisonFilter = ComparisonFilter()
  /// The settings of resumable uploads.
  package var uploads = UploadSettings()
  /// Where events are sent.
  package var webhooks = WebhookSettings()
  /// The least severe level that is logged.
  package var logLevel = Logger.Level.info

  /// Creates the default settings.
  package init(port: Int = 8080, storage: String = "Storage") {
    self.port = port
    self.storage = storage
  }

  /// Whether interim responses are sent. Many proxies abort a request when they receive an interim response that they
  /// don't know. So none is sent if there is a trusted proxy, unless the settings request it.
  package var sendsInterimAnswers: Bool { uploads.interimAnswers ?? trustedProxies.isEmpty }
}

extension RateLimit {
  /// Much more than a team needs, and much less than a single client could send.
  package static let defaultOfServer = RateLimit("600000/min")
}

/// The settings for expiration and for the verification of stored bundles.
package struct RetentionSettings: Sendable, Hashable {
  /// The rules by which snapshots expire.
  package var rules = RetentionRules()
  /// How often the rules are applied.
  package var interval = TimeSpan.hour
  /// The most bytes that all bundles may have together; `nil` means no limit. Uploads that exceed it are refused.
  package var quotaBytes: Int64?
  /// How often every bundle is verified; `nil` verifies on request only.
  package var scrubInterval: TimeSpan? = .month
  /// The number of bytes read per second during the verification.
  package var scrubBytesPerSecond: Int64 = 10 << 20

  /// Creates the default settings.
  package init() {}
}

/// The settings of resumable uploads.
package struct UploadSettings: Sendable, Hashable {
  /// The protocol options, and the web origins that may use them.
  package var offer = ResumableUploads.Configuration()
  /// Whether interim responses are sent; `nil` sends them unless there are trusted proxies.
  package var interimAnswers: Bool?
  /// The limits of uploads. The limit of their length follows from the most bytes of a bundle.
  package var limits = UploadLimits()

  /// Creates the default settings.
  package init() {}
}
