package import SnapshotFormat

/// The rows of resumable uploads in a database that several servers share.
///
/// A row is changed only with a lease, and only while its lease is the latest one. So a server that was asleep for longer
/// than its lease changes nothing after another server has taken over. Every implementation guarantees the following,
/// and one test suite checks it for all of them:
/// - Every method is one atomic and durable change. If it throws, it is unknown whether the change was made, or will be.
/// - The time of a lease is measured with the database's clock: those of the servers can differ. All times in sessions
///   come from the servers and are not compared with it.
/// - All methods can be called from any task at any time.
///
/// All methods throw ``StoreError/unavailable(_:)`` if the database does not answer.
///
/// There is no method that finds expired uploads: the limits keep the rows few, and ``UploadSession/isExpired(at:_:)``
/// decides for each of ``rows()``.
package protocol UploadRows: Sendable {
  /// Adds an upload without a lease, and removes the ended uploads that exceed
  /// ``UploadLimits/remembered``. The open uploads are counted in the same transaction, so that concurrent calls don't
  /// exceed the limits together. Throws ``UploadError/tooManyOpen(limit:)``, as
  /// ``UploadLimits/requireRoom(for:among:)`` decides, or ``UploadError/store(_:)``.
  func create(_ row: UploadRow, limits: UploadLimits) async throws(UploadError)
  /// Returns the session of an upload; `nil` if there is none.
  func session(_ id: UploadID) async throws(StoreError) -> UploadSession?
  /// Returns a row; `nil` if there is none.
  func row(_ id: UploadID) async throws(StoreError) -> UploadRow?
  /// Returns all rows in no particular order, with empty tails.
  func rows() async throws(StoreError) -> [UploadRow]

  /// Takes a new lease of an upload, unless another holder has one that has not ended. A lease that the same holder has
  /// is replaced.
  func take(
    _ id: UploadID, by holder: SnapshotID, for duration: Duration
  ) async throws(StoreError) -> UploadTake
  /// Lets a lease end `duration` from now; with zero, it ends now.
  /// - Returns: whether it is the latest lease of the upload.
  func renew(_ lease: UploadLease, for duration: Duration) async throws(StoreError) -> Bool
  /// Replaces a row, and renews the lease in the same statement.
  /// - Returns: whether it is the latest lease of the upload. Otherwise, nothing is changed.
  func update(_ row: UploadRow, under lease: UploadLease, for duration: Duration) async throws(StoreError)
    -> Bool
  /// Removes a row.
  /// - Returns: whether it is the latest lease of the upload. Otherwise, nothing is changed.
  func remove(under lease: UploadLease) async throws(StoreError) -> Bool
}
