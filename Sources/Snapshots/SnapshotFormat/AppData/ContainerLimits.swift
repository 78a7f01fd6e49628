/// How much of an app's container is read before it is refused: the same as a zip takes, so that what can be put in
/// place can be packed as well.
public struct ContainerLimits: Sendable, Hashable {
  /// A limit, by its property's name.
  public enum Name: String, Sendable, Hashable, CaseIterable {
    case entries, depth, pathLength, fileSize, totalSize
  }

  /// The most files and folders.
  public var entries = 190_000
  /// The most parts of a path, each a folder in the next.
  public var depth = 120
  /// The longest path, in bytes.
  public var pathLength = 4000
  /// The most bytes of one file.
  public var fileSize: Int64 = 4 << 30
  /// The most bytes of all files.
  public var totalSize: Int64 = 15 << 30

  /// The limits above.
  public init() {}

  /// The limits above.
  public static let `default` = ContainerLimits()
}

/// What has been read of a container so far, held against the limits.
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
