import CBenchmark
import Crypto
import Foundation
import SystemIO

/// The processor time of what no server can leave out of a durable upload, measured on one thread that does nothing
/// else.
struct LeastWork {
  /// In milliseconds: the digest of the bundle, and the inflating, CRC-32 and digest of the recordings that are checked
  /// before the response.
  private let checking: Double
  /// In milliseconds: writing, flushing and renaming a bundle and its record.
  private let storing: Double

  /// The number of bundles that are stored: enough to use memory that no file has used recently.
  private static let bundles = 200

  /// - Parameters:
  ///   - isNoise: whether the recordings are stored as they are.
  ///   - folder: a folder to write to. It is created.
  init(size: Int, isNoise: Bool, in folder: String) throws {
    let bundle = Payload([UInt8](JSONText(seed: 1).makeNoise(size)))
    let recordings = isNoise ? bundle : Payload(JSONText(seed: 1).make(size * 37 / 10))
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    checking =
      (0..<9).map { _ in
        bundle.digestSeconds + (recordings.isCheckedFirst ? recordings.checkSeconds(isNoise: isNoise) : 0)
      }.median * 1000
    // Like the server's bundles, these are kept: a system that reuses the memory of a removed file writes faster.
    storing = try (0..<Self.bundles).map { try bundle.storeSeconds(in: folder, as: $0) }.median * 1000
    try FileManager.default.removeItem(atPath: folder)
  }

  var text: String {
    let (checking, storing) = (Metric.milliseconds.format(checking), Metric.milliseconds.format(storing))
    return
      "checking alone takes \(checking) ms of CPU (digests, inflating, CRC-32), writing and flushing \(storing) ms"
  }
}

extension Payload {
  /// The processor time of one computation of the digest, in seconds.
  var digestSeconds: Double {
    Clock.threadSeconds {
      var hash = SHA256()
      hash.update(bufferPointer: bytes)
      _ = hash.finalize()
    }
  }

  /// Whether the server checks recordings of this size before the response (`UploadValidator.smallBundleBytes`).
  fileprivate var isCheckedFirst: Bool { count <= 1280 << 10 }

  /// The processor time of checking recordings, in seconds.
  fileprivate func checkSeconds(isNoise: Bool) -> Double {
    digestSeconds
      + (isNoise
        ? Clock.threadSeconds { _ = benchmark_checksum(bytes.baseAddress, count) }
        : benchmark_inflate_seconds(bytes.baseAddress, count))
  }

  /// The processor time of storing bundle `number` and its record durably in `folder`, in seconds.
  fileprivate func storeSeconds(in folder: String, as number: Int) throws(SystemError) -> Double {
    let names = ["bundle", "record"].map { "\(folder)/\($0)-\(number)" }
    return try Clock.threadSeconds { () throws(SystemError) in
      let files = [
        try File("\(names[0]).staged", .create(mode: 0o600)),
        try File("\(names[1]).staged", .create(mode: 0o600)),
      ]
      try files[0].write(bytes, at: 0)
      try files[1].write([UInt8](repeating: 0x20, count: 1000), at: 0)
      for file in files { try file.synchronize() }
      for name in names { try Folder.publish("\(name).staged", as: name) }
      try Folder.synchronize(folder)
    }
  }
}
