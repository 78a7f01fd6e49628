import SnapshotFormat

/// The differences between the attachments and the files of the app's container in two snapshots.
struct FileMatch {
  /// The first differing files, by name. The texts of a change are the lengths in bytes.
  let changes: [Change<String>]
  /// The number of differing files.
  let count: Int

  init(
    _ first: some ReadableSnapshot, _ second: some ReadableSnapshot, limits: ComparisonLimits,
    selection: ComparisonSelection
  ) throws(BundleError) {
    guard selection.identifier == nil else {
      (changes, count) = ([], 0)
      return
    }
    var list = BoundedList<Change<String>>(limit: limits.listed) { $0.place < $1.place }
    func report(_ name: String, _ first: Int64?, _ second: Int64?) {
      let change = Change(place: name, first: first.map { "\($0)" }, second: second.map { "\($0)" })
      list.append(change, isListed: selection.includes(file: name))
    }
    // The keys are hashes of the names. Their seed is random in each process, so a snapshot's author cannot cause
    // collisions.
    var own: [Int: Summary] = [:]
    try first.readExtras { own[$0.name.hashValue] = Summary($0) }
    // The files whose checksums are unknown. Only the contents of these are read.
    var unclear: [Int: SnapshotMember] = [:]
    try second.readExtras { member in
      let name = member.name.hashValue
      guard let summary = own.removeValue(forKey: name) else {
        report(member.name, nil, member.size)
        return
      }
      switch summary.isAlike(member) {
      case true?: break
      case false?: report(member.name, summary.size, member.size)
      case nil: unclear[name] = member
      }
    }
    if !own.isEmpty || !unclear.isEmpty {
      try first.readExtras { member throws(BundleError) in
        let name = member.name.hashValue
        if own[name] != nil {
          report(member.name, member.size, nil)
        } else if let other = unclear[name], try first.digest(of: member) != second.digest(of: other) {
          report(member.name, member.size, other.size)
        }
      }
    }
    changes = list.rows
    count = list.count
  }

  /// The properties of a file that are kept.
  private struct Summary {
    let size: Int64
    private let crc32: UInt32?

    init(_ member: SnapshotMember) {
      size = member.size
      crc32 = member.crc32
    }

    /// Whether the other file has the same contents; `nil` if that is unknown.
    func isAlike(_ other: SnapshotMember) -> Bool? {
      guard size == other.size else { return false }
      guard let crc32, let otherChecksum = other.crc32 else { return nil }
      return crc32 == otherChecksum
    }
  }
}
