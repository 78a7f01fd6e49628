import SnapshotFormat
import SnapshotStore
import SystemIO

/// The contents of a bundle, with the states of its recordings as far as they were examined. Thread-safe.
final class ExaminedContents: Sendable {
  /// The number of bytes of recordings that one page examines before it is rendered.
  static let bytesAtOnce: Int64 = 16 << 20
  /// The size of the largest recording that is examined, in bytes. A larger one is judged when it is opened.
  static let largest: Int64 = 256 << 20

  /// The contents.
  let contents: BundleContents
  private let examined: Lock<[ContentState?]>
  /// Whether recordings are being examined later.
  private let isContinuing = Lock(false)

  /// Creates contents of which nothing is examined.
  /// - Parameter states: the states of the first recordings.
  init(_ contents: BundleContents, states: [ContentState?] = []) {
    self.contents = contents
    examined = Lock(states + Array(repeating: nil, count: contents.recordings.count - states.count))
  }

  /// The states of the recordings, in their order; `nil` for those that were not examined.
  var states: [ContentState?] { examined.withLock { $0 } }

  /// Examines small recordings at once, and has as many others examined later as ``largest`` allows: the smallest first.
  /// Blocks.
  /// - Parameter later: runs a closure after this.
  func examine(
    _ bundle: CheckedBundle, atOnce: Int64 = bytesAtOnce,
    later: (@escaping @Sendable () -> Void) -> Void
  ) throws(BundleError) {
    try examine(bundle, upTo: atOnce)
    let states = states
    guard states.indices.contains(where: { states[$0] == nil && isExaminable($0) }),
      !isContinuing.withLock({ isContinuing in
        defer { isContinuing = true }
        return isContinuing
      })
    else { return }
    later { [weak self] in
      // A bundle that can't be read is reported by the page that shows it.
      do throws(BundleError) { try self?.examine(bundle, upTo: Self.largest) } catch {}
      self?.isContinuing.withLock { $0 = false }
    }
  }

  private func isExaminable(_ index: Int) -> Bool { contents.recordings[index].size <= Self.largest }

  private func examine(_ bundle: CheckedBundle, upTo limit: Int64) throws(BundleError) {
    var left = limit
    let states = states
    let waiting = contents.recordings.indices.filter { states[$0] == nil && isExaminable($0) }
      .sorted { contents.recordings[$0].size < contents.recordings[$1].size }
    for index in waiting {
      let recording = contents.recordings[index]
      left -= recording.size
      guard left >= 0 else { return }
      guard let entry = try bundle.entry(at: recording.path) else { continue }
      var examiner = ContentExaminer(expectsJSON: recording.isMeantAsJSON)
      let next = try entry.pieces()
      while let piece = try next() { examiner.take(piece) }
      let state = examiner.finish()
      examined.withLock { $0[index] = state }
    }
  }
}

/// Keeps the contents of the bundles whose pages were shown last. Thread-safe.
final class ContentsCache: Sendable {
  /// The memory that all contents use, in bytes.
  private static let limit = 64 << 20

  private let cache = Lock(LRUCache<ContentDigest, ExaminedContents>(limit: limit))

  /// The contents of the bundle with this digest, from the cache or made by `make`.
  func contents(
    of digest: ContentDigest, make: () throws(BundleError) -> BundleContents
  ) throws(BundleError) -> ExaminedContents {
    if let known = cache.withLock({ $0.value(of: digest) }) { return known }
    let made = ExaminedContents(try make())
    cache.withLock { $0.keep(made, under: digest, cost: made.contents.memory) }
    return made
  }
}
