/// Limits for reading an app's container. They are within the limits of a zip, so that every container that can be
/// installed can also be packed.
public struct ContainerLimits: Sendable, Hashable {
  /// A limit, named like its property.
  public enum Name: String, Sendable, Hashable, CaseIterable {
    case entries, depth, pathLength, fileSize, totalSize
  }

  /// The maximum number of files and folders.
  public var entries = 190_000
  /// The maximum number of components in a path.
  public var depth = 120
  /// The maximum length of a path in bytes.
  public var pathLength = 4000
  /// The maximum size of one file in bytes.
  public var fileSize: Int64 = 4 << 30
  /// The maximum size of all files together in bytes.
  public var totalSize: Int64 = 15 << 30

  /// Creates the default limits.
  public init() {}

  /// The default limits.
  public static let `default` = ContainerLimits()
}

/// The entries of a container that were read so far. Enforces the limits.
struct ContainerTally {
  private let limits: ContainerLimits
  private(set) var entries: [ContainerEntry] = []
  private var totalSize: Int64 = 0

  init(_ limits: ContainerLimits) { self.limits = limits }

  mutating func add(_ entry: ContainerEntry) throws(AppDataError) {
    let path = entry.path
    guard path.utf8.count <= limits.pathLength else { throw .limit(.pathLength, path) }
    guard path.utf8.count(where: { $0 == UInt8(ascii: "/") }) < limits.depth else {
      throw .limit(.depth, path)
    }
    guard entries.count < limits.entries else { throw .limit(.entries, path) }
    guard entry.size <= limits.fileSize else { throw .limit(.fileSize, path) }
    let (sum, overflow) = totalSize.addingReportingOverflow(entry.size)
    guard !overflow, sum <= limits.totalSize else { throw .limit(.totalSize, path) }
    totalSize = sum
    entries.append(entry)
  }
}
