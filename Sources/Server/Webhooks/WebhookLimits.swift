/// The limits of webhooks.
package enum WebhookLimits {
  /// The most endpoints in the settings.
  package static let endpoints = 16
  /// The most bytes of an endpoint's URL.
  package static let urlBytes = 2048
  /// The most applications, or prefixes of reports, that the settings name.
  package static let filters = 100
  /// The most bytes of a request's body. Standard Webhooks recommends less than 20 kB.
  package static let bodyBytes = 20_000
  /// The most events that wait for one endpoint. Beyond, the oldest are dropped.
  package static let waitingPerEndpoint = 10_000
  /// The most deliveries to one endpoint that are remembered after they ended.
  package static let endedPerEndpoint = 10_000
  /// How many seconds a delivery is remembered after it ended. A client that repeats an upload within this time causes
  /// no second event.
  package static let endedSeconds: Int64 = 7 * 24 * 3600
  /// The most events that are sent to one endpoint at once. They are about different snapshots.
  package static let concurrentDeliveries = 4
  /// The most seconds of one try, from the look-up of the name to the end of the response.
  package static let trySeconds = 15.0
  /// The most addresses of a name that one try connects to, one after the other.
  package static let addressesPerTry = 3
  /// The most bytes of a response. Its contents are not used.
  package static let responseBytes = 64 << 10
  /// The most deliveries in one response of the API.
  package static let deliveriesPerPage = 1...1000
  /// The most bytes of the file with the secrets.
  package static let secretFileBytes = 4096
  /// The lengths of a secret in bytes, from Standard Webhooks.
  package static let secretBytes = 24...64
  /// The most seconds by which `Retry-After` can delay the next try.
  package static let retryAfterSeconds: Int64 = 24 * 3600
  /// Servers that share their snapshots remove what is stored about an endpoint so many seconds after the last of them had
  /// it in its settings.
  package static let unnamedSeconds: Int64 = 7 * 24 * 3600
  /// After how many seconds a prepared deletion is looked up in the store, because the request that prepared it has not
  /// announced it.
  package static let heldSeconds: Int64 = 600
}
