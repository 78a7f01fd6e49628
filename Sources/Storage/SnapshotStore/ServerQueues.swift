package import SystemIO

/// The queues on which a server does what blocks or takes long. `Sources/README.md` has a table of them.
///
/// An object that needs order takes one queue of a set for itself. A few objects have a queue of their own, because
/// others wait for it, or because it never ends its work.
package struct ServerQueues: Sendable {
  /// The queues of this process.
  package static let shared = ServerQueues()

  /// Read records and other small files, and open bundles.
  package let readers = QueueSet("reader", count: 2)
  /// Read much: files in bundles, which they inflate, and audit logs. They also render the pages that show these.
  package let longReaders = QueueSet("long-reader", count: 2)
  /// Write and hash uploads. Hashing keeps a processor busy: more queues than processors would make no upload faster,
  /// and delay short work.
  package let writers: QueueSet
  /// Write and hash short uploads, so that these do not wait for long ones.
  package let shortWriters: QueueSet
  /// Flush files. Each spends its time waiting for the disk.
  package let flushers = QueueSet("flusher", count: 16)
  /// Check bundles before their uploads are answered.
  package let checkers = QueueSet("checker", count: 3)
  /// Render pages, and encode long responses.
  package let pages = QueueSet("page", count: 2)
  /// Compare bundles and search their contents, which can take a second.
  package let comparisons = QueueSet("comparison", count: Processors.count)
  /// Do work that may take seconds. Each object that uses them takes one for itself; there are enough for all.
  package let background = QueueSet("background", count: 8)
  /// Ask the system for the addresses of hosts, which can take seconds.
  package let resolvers = QueueSet("resolver", count: 4)
  /// Does what no client waits for, with low priority.
  package let maintenance = BackgroundQueue()

  /// Creates queues, which have no threads until they are used.
  /// - Parameter writers: how many long uploads, and how many short ones, are written and hashed at once.
  package init(writers count: Int = Processors.count) {
    writers = QueueSet("writer", count: count)
    shortWriters = QueueSet("short-writer", count: count)
  }
}
