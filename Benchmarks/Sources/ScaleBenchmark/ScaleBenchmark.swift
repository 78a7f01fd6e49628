import Foundation

/// Measures how the costs of a server grow with the number of stored bundles, and names what grows faster than the
/// logarithm. Exits with 1 if the reason for that is not known.
@main
struct ScaleBenchmark {
  static func main() {
    do {
      var options = try Options(Array(CommandLine.arguments.dropFirst()))
      // A folder of its own, so that files of an interrupted or a concurrent run are neither used nor removed.
      options.work += "/scale-\(getpid())"
      signal(SIGPIPE, SIG_IGN)
      try FileManager.default.createDirectory(atPath: options.work, withIntermediateDirectories: true)
      let isExpected: Bool
      do {
        isExpected = try measure(options)
      } catch {
        remove(options)
        throw error
      }
      remove(options)
      if !isExpected { exit(1) }
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  /// Measures the store at each size.
  /// - Returns: whether the reasons of all steep growth are known.
  private static func measure(_ options: Options) throws -> Bool {
    let storage = "\(options.work)/storage"
    let maker = try StoreMaker(options.snapshot, storage: storage, work: options.work)
    var curves = Curves()
    for size in options.sizes {
      options.message("\(size) bundles …")
      try requireSpace(for: size - maker.count, options)
      try maker.grow(to: size)
      try StoreMeasurement(options, maker, storage: storage).run(&curves)
    }
    print(curves.table)
    print("\n\(curves.findings)")
    fflush(nil)
    if let svg = options.svg { try Data(Chart(curves: curves).svg.utf8).write(to: URL(filePath: svg)) }
    if options.tombstones > 0 {
      try requireSpace(for: options.tombstones, options)
      print("\n\(try Year(options, maker, storage: storage).measure())")
    }
    return Measure.allCases.allSatisfy { !curves.isSteep($0) || $0.reason != nil }
  }

  /// Throws if the disk has not enough space and inodes for `count` more bundles.
  private static func requireSpace(for count: Int, _ options: Options) throws {
    var status = statvfs()
    guard statvfs(options.work, &status) == 0 else { throw Failure("statvfs: \(Failure.lastError)") }
    let (bytes, inodes) = (Int(status.f_bavail) * Int(status.f_frsize), Int(status.f_favail))
    // A record has a block of 4 KiB, and the catalogue some 2 KB for each bundle, twice while it is merged.
    guard bytes > count * 10_000 + 1 << 30, inodes > count + count / 8 + 10_000 else {
      throw Failure("\(options.work) has not enough space for \(count) more bundles")
    }
  }

  private static func remove(_ options: Options) {
    do { try FileManager.default.removeItem(atPath: options.work) } catch {
      options.message("cannot remove the folder: \(error)")
    }
  }
}
