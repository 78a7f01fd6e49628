public import SnapshotFormat

/// The snapshots of a list, fetched page by page as they are asked for.
public struct SnapshotList: AsyncSequence, Sendable {
  /// What the list is made of.
  public typealias Element = SnapshotRecord
  /// What ends it early.
  public typealias Failure = SnapshotClientError

  let client: SnapshotAPIClient
  let filter: SnapshotFilter

  /// A pass over the list from its start.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(list: self) }

  /// One pass over a list.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let list: SnapshotList
    private var rest: ArraySlice<SnapshotRecord> = []
    private var next: String?
    private var isFirst = true

    fileprivate init(list: SnapshotList) { self.list = list }

    /// The next record; `nil` at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(SnapshotClientError) -> SnapshotRecord? {
      while rest.isEmpty, isFirst || next != nil {
        let page = try await list.client.page(list.filter, after: next)
        isFirst = false
        rest = page.records[...]
        next = page.next
      }
      return rest.popFirst()
    }
  }
}
