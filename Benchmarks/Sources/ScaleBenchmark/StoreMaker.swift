import Foundation

/// Fills a storage folder with bundles: hard links to one bundle, each with a record of its own.
///
/// One bundle is attached to a server first. Its record is the template of the others, so that this program knows
/// nothing about the format except the keys that differ.
final class StoreMaker {
  /// The most hard links of one file: ext4 permits 65,000.
  private static let links = 60_000
  /// The bundle that all bundles of the store are copies of.
  let bundle: [UInt8]
  /// The number of bundles in the folder.
  private(set) var count = 0
  private let storage: String
  private let template: RecordTemplate

  /// Packs a bundle, and attaches it to a server with an empty storage folder.
  init(_ program: String, storage: String, work: String) throws {
    self.storage = storage
    let source = "\(work)/source"
    try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
    for index in 0..<4 {
      let text =
        "{\"items\":[" + (0..<200).map { "{\"id\":\($0 * 7919 + index)}" }.joined(separator: ",") + "]}"
      try Data(text.utf8).write(to: URL(filePath: "\(source)/\(index).json"))
    }
    let path = "\(work)/bundle.zip"
    try ServerProcess.run([program, "pack", source, "--output", path], log: "\(work)/log")
    bundle = Array(try Data(contentsOf: URL(filePath: path)))

    let server = try ServerProcess(program, storage: storage, log: "\(work)/log")
    let id = Self.id(0)
    try Connection(port: server.port).perform(
      "PUT", "/v1/reports/TEMPLATE/snapshots/\(id)", fields: "Content-Type: application/zip\r\n",
      body: bundle,
      expecting: [201])
    try server.stop()
    count = 1
    template = try RecordTemplate(file: "\(storage)/bundles/\(id.prefix(2))/\(id).json")
  }

  /// The id of the bundle with this number.
  static func id(_ number: Int) -> String {
    var state = UInt64(number)
    func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
    func digits(_ value: UInt64, _ count: Int) -> String {
      let text = String(value, radix: 16)
      return String(repeating: "0", count: max(0, 16 - text.count)).appending(text).suffix(count).description
    }
    let (high, low) = (next(), next())
    return
      "\(digits(high >> 32, 8))-\(digits(high >> 16, 4))-4\(digits(high, 3))-8\(digits(low >> 48, 3))-\(digits(low, 12))"
  }

  /// Adds bundles until there are `goal`.
  func grow(to goal: Int) throws {
    for shard in 0..<256 {
      let digits = String(shard + 256, radix: 16).suffix(2)
      try FileManager.default.createDirectory(
        atPath: "\(storage)/bundles/\(digits)", withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
    }
    while count < goal {
      let end = min(goal, count + Self.links)
      let source = "\(storage)/bundles/source"
      try Data(bundle).write(to: URL(filePath: source))
      chmod(source, 0o440)
      try fill(count..<end, from: source)
      try FileManager.default.removeItem(atPath: source)
      count = end
    }
  }

  private func fill(_ numbers: Range<Int>, from source: String) throws {
    let (parts, failures, template, bundles) = (4, Failures(), template, "\(storage)/bundles")
    DispatchQueue.concurrentPerform(iterations: parts) { part in
      do {
        for number in numbers where number % parts == part {
          try Self.add(number, template, to: bundles, from: source)
        }
      } catch {
        failures.add(error)
      }
    }
    if let first = failures.first { throw first }
  }

  private static func add(
    _ number: Int, _ template: RecordTemplate, to bundles: String, from source: String
  ) throws {
    let id = id(number)
    let path = "\(bundles)/\(id.prefix(2))/\(id)"
    let record = Array(template.record(number, id: id).utf8)
    let descriptor = open("\(path).json", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure("\(path).json: \(Failure.lastError)") }
    defer { close(descriptor) }
    guard write(descriptor, record, record.count) == record.count, link(source, "\(path).zip") == 0 else {
      throw Failure("\(path): \(Failure.lastError)")
    }
  }
}

/// The first error of work on several threads.
private final class Failures: @unchecked Sendable {
  // All access holds the lock.
  private let lock = NSLock()
  private var all: [any Error] = []

  func add(_ error: any Error) { lock.withLock { all.append(error) } }

  var first: (any Error)? { lock.withLock { all.first } }
}
