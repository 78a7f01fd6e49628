import SnapshotServer

extension SharedSettings {
  /// Every setting below `server.shared`.
  static let settings: [Setting<SharedSettings>] = [
    .init(name: "store", wanted: "s3://bucket/prefix") {
      $0.store = $1.isEmpty ? nil : $1
      return true
    },
    .init(name: "database", wanted: "postgres://user@host/database") {
      $0.database = $1.isEmpty ? nil : $1
      return true
    },
    .init(name: "endpoint", wanted: "an address such as https://s3.example.com") {
      $0.endpoint = $1.isEmpty ? nil : $1
      return true
    },
    .init(name: "region", wanted: "a region such as us-east-1") {
      $0.region = $1
      return !$1.isEmpty
    },
    .init(name: "bucketIn", wanted: "‘path’ or ‘host’") {
      $0.namesBucketInHost = $1 == "host"
      return $1 == "path" || $1 == "host"
    },
    .init(name: "cacheBytes", wanted: "a number of bytes from 0") { settings, text in
      guard let bytes = Int(text), bytes >= 0 else { return false }
      settings.cacheBytes = bytes
      return true
    },
    .init(name: "downloads", wanted: "‘server’ or ‘redirect’") { settings, text in
      guard let downloads = DownloadSource(rawValue: text) else { return false }
      settings.downloads = downloads
      return true
    },
  ]
}
