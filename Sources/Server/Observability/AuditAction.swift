/// An action that the audit log records, by the name that it has there.
///
/// The action of a call of the API is also the id of its operation in the description of the API. A web page has the
/// action of the call that reads or changes the same.
package enum AuditAction: String, Sendable, Hashable, CaseIterable {
  case attachSnapshot, attachSnapshotAs
  case openUpload, readUpload, useUpload, appendToUpload, endUpload
  case readResumableUpload, appendToResumableUpload, endResumableUpload
  case listSnapshots, listReport
  case readSnapshot, fetchBundle, listFiles, fetchFile, fetchFolder
  case changeSnapshot, commentOnSnapshot, createLink, deleteSnapshot
  case createAttachLink, listAttachLinks, revokeAttachLink
  case planExpirations, expire, readScrub, scrub, readReindex, reindex, readMetrics
  case listWebhooks, listDeliveries, testWebhook, redeliver
  // Only web pages have these.
  case openAttachLink, signIn, signOut, compareSnapshots, searchContents, readHistory
  /// A request states a user whom a proxy would name, and is refused.
  case stateUser
  /// The server deletes a snapshot by a retention rule.
  case expireByRule
}
