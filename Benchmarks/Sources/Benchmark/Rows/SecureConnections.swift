import Foundation

/// TLS 1.3 with AES-128-GCM and an ECDSA certificate: small requests, new connections, downloads and uploads.
extension Bench {
  mutating func measureTLS() throws {
    let servers = start([.engineTLS, .nginxTLS])
    let answer = Payload([UInt8](repeating: UInt8(ascii: "x"), count: 1024))
    let small = Exchange.get("/small", expecting: answer)
    let seconds = effort.seconds

    let requests = race("TLS, small GET", servers) { server in
      let (loads, cpu) = try server.run([Work(64, small)], seconds: seconds)
      return [
        .requestsPerSecond: loads[0].exchangesPerSecond, .p99: loads[0].milliseconds(percentile: 0.99),
        .cpuMilliseconds: cpu / Double(max(1, loads[0].exchanges)) * 1000,
        .generatorLoad: loads[0].generatorLoad,
      ]
    }
    add("TLS, small GET, 64 connections", .requestsPerSecond, ours: .engineTLS, requests, [.of(.nginx, 0.85)])
    add("TLS, small GET, 64 connections", .p99, ours: .engineTLS, requests)
    add("TLS, small GET, 64 connections", .cpuMilliseconds, ours: .engineTLS, requests)

    measureNewConnections("TLS, new connections", servers, ours: .engineTLS, small, [.of(.nginx, 0.85)])

    for (name, size, count) in [("1MB", 1_000_000, 16), ("100MB", 100_000_000, 1)] {
      let bundle = try bundle(name, size)
      for server in servers { try bundle.publish(on: server) }
      let downloads = race("TLS, download \(name)", servers) { server in
        try Self.transfer(
          server, [Work(count, server.contestant.download(bundle))], seconds: seconds, limit: .max)
      }
      add("TLS, download \(name)", .megabytesPerSecond, ours: .engineTLS, downloads, [.of(.nginx, 0.85)])
      add("TLS, download \(name)", .cpuPerGigabyte, ours: .engineTLS, downloads)
    }
    let bundle = try bundle("1MB", 1_000_000)
    let uploads = race("TLS, upload 1MB", servers) { server in
      defer { sync() }
      let result = try Self.transfer(
        server, [Work(16) { server.contestant.upload($0, bundle) }], seconds: seconds, limit: 1000,
        isWarmedUp: false)
      try server.clearUploads()
      return result
    }
    add(
      "TLS, upload 1MB, 16 connections", .megabytesPerSecond, ours: .engineTLS, uploads, [.of(.nginx, 0.85)])
    add("TLS, upload 1MB, 16 connections", .cpuPerGigabyte, ours: .engineTLS, uploads)
  }

  private static func transfer(
    _ server: Server, _ works: [Work], seconds: Double, limit: Int, isWarmedUp: Bool = true
  ) throws -> [Metric: Double] {
    let (loads, cpu) = try server.run(works, seconds: seconds, limit: limit, isWarmedUp: isWarmedUp)
    return [
      .megabytesPerSecond: loads[0].bytesPerSecond / 1e6,
      .cpuPerGigabyte: cpu / Double(max(1, loads[0].bytes)) * 1e9,
      .generatorLoad: loads[0].generatorLoad,
    ]
  }
}
