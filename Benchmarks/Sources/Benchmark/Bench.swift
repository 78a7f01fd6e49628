import Foundation

/// A run of the benchmark: its inputs, and the results so far.
struct Bench {
  let options: Options
  var report: Report
  private var bundles: [String: BundleFile] = [:]

  init(_ options: Options) {
    self.options = options
    report = Report(machine: Machine(options.tools))
  }

  var effort: Options.Effort { options.effort }

  /// Writes a progress message to stderr.
  func message(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

  mutating func perform(_ suite: Suite) {
    do {
      switch suite {
      case .fetch: try measureFetch()
      case .pages: try measurePages()
      case .requests: try measureSmallRequests()
      case .downloads: try measureDownloads()
      case .uploads: try measureUploads()
      case .mixed: try measureMixedLoad()
      case .slow: try measureSlowClients()
      case .durable: try measureDurableUploads()
      case .memory: try measureMemory()
      case .start: try measureStartUp()
      case .zip: try measureZip()
      case .client: try measureClient()
      case .tls: try measureTLS()
      }
    } catch {
      fail(suite.rawValue, error)
    }
  }

  mutating func fail(_ what: String, _ error: any Error) {
    report.failures.append("\(what): \(error)")
    message("\(what): \(error)")
  }

  /// Returns the bundle `name` of about `size` bytes, and packs it at the first request.
  mutating func bundle(_ name: String, _ size: Int, isNoise: Bool? = nil) throws -> BundleFile {
    if let bundle = bundles[name] { return bundle }
    let bundle = try BundleFile(
      name, size: size, isNoise: isNoise ?? (size >= 10_000_000), in: options.work, options.tools)
    bundles[name] = bundle
    return bundle
  }

  func start(_ contestant: Contestant, environment: [String: String] = [:]) throws -> Server {
    try Server(contestant, options.tools, in: options.work, environment: environment)
  }

  /// Starts the contestants, and returns those that started.
  mutating func start(_ contestants: [Contestant]) -> [Server] {
    contestants.compactMap { contestant in
      do { return try start(contestant) } catch {
        fail(contestant.name, error)
        return nil
      }
    }
  }

  /// Measures `servers` in turns (A B A B), so that all run under the same conditions, and returns the values of all rounds.
  mutating func race(
    _ what: String, _ servers: [Server], rounds: Int? = nil, _ body: (Server) throws -> [Metric: Double]
  ) -> [Contestant: Samples] {
    var samples: [Contestant: Samples] = [:]
    var out: Set<Contestant> = []
    for _ in 0..<(rounds ?? effort.rounds) {
      for server in servers where !out.contains(server.contestant) {
        do {
          samples[server.contestant, default: [:]].add(try body(server))
        } catch {
          fail("\(what), \(server.contestant.name)", error)
          out.insert(server.contestant)
        }
      }
    }
    samples = samples.filter { !out.contains($0.key) }
    for server in servers {
      guard let metrics = samples[server.contestant] else { continue }
      let words = metrics.sorted { $0.key.rawValue < $1.key.rawValue }.map { metric, values in
        "\(metric.format(values.median)) \(metric.rawValue)"
      }
      message("  \(what), \(server.contestant.name): \(words.joined(separator: ", "))")
    }
    return samples
  }

  mutating func add(
    _ work: String, _ metric: Metric, ours: Contestant, _ samples: [Contestant: Samples],
    _ targets: [Target] = [], limit: String? = nil
  ) {
    let named = Dictionary(uniqueKeysWithValues: samples.map { ($0.key.name, $0.value) })
    report.rows.append(Row(work, metric, ours: ours.name, named, targets, limit: limit))
  }
}

/// The parts of the benchmark that can be run separately: first what people run, then the engine.
enum Suite: String, CaseIterable {
  case fetch, pages, durable, start, client, zip, mixed, slow, memory, requests, downloads, uploads, tls
}

extension [Double] {
  var median: Double {
    guard !isEmpty else { return .nan }
    let sorted = sorted()
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }
}
