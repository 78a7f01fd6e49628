/// What the server measures.
package enum MetricName: String, CaseIterable, Sendable {
  case requests = "http_requests_total"
  case requestDuration = "http_request_duration_seconds"
  case requestBytes = "http_request_bytes_total"
  case responseBytes = "http_response_bytes_total"
  case openConnections = "http_connections_open"
  case uploads = "snapshot_uploads_total"
  case storeBytes = "snapshot_store_bytes"
  case storeBundles = "snapshot_store_bundles"
  case queueDepth = "snapshot_queue_depth"
  case flushDuration = "snapshot_flush_duration_seconds"
  case scrubbedBundles = "snapshot_scrubbed_bundles_total"
  case scrubbedBytes = "snapshot_scrubbed_bytes_total"
  case heldExpirations = "snapshot_expirations_held"
  case catalogLag = "snapshot_catalog_lag_records"
  case auditEvents = "snapshot_audit_events_total"
  case build = "snapshot_build_info"

  /// The line of help.
  package var help: String {
    switch self {
    case .requests: "Requests that ended, by route and status; 0 is one whose client went away unanswered."
    case .requestDuration: "From the last byte of a request's head to the last of its response."
    case .requestBytes: "Bytes of requests: heads, and bodies without their coding."
    case .responseBytes: "Bytes of responses that the system took, heads included."
    case .openConnections: "Connections that are open."
    case .uploads: "Uploads that ended, by how."
    case .storeBytes: "Bytes of the bundles that are kept."
    case .storeBundles: "Bundles that are kept."
    case .queueDepth: "What waits, by queue."
    case .flushDuration: "How long the disk took to make files and names last."
    case .scrubbedBundles: "Bundles whose bytes were looked at again, by what was found."
    case .scrubbedBytes: "Bytes of such bundles."
    case .heldExpirations: "Snapshots that are to go by the rules, and wait for `snapshot expire --confirm`."
    case .catalogLag: "Records that are kept and not in the catalogue yet."
    case .auditEvents: "Events for the audit log, by whether they could be written."
    case .build: "Always 1, with the version that runs."
    }
  }
}
