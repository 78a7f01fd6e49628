package import SnapshotStore
package import SnapshotAPI

/// The settings of resumable uploads.
package struct UploadSettings: Sendable, Hashable {
  /// The protocol options, and the web origins that may use them.
  package var offer = ResumableUploads.Configuration()
  /// Whether interim responses are sent; `nil` sends them unless there are trusted proxies.
  package var interimAnswers: Bool?
  /// The limits of uploads. The limit of their length follows from the most bytes of a bundle.
  package var limits = UploadLimits()

  /// Creates the default settings.
  package init() {}
}
