import SnapshotWeb

/// The articles of this module's DocC catalogue, embedded in the program.
///
/// A new article must also be added to the resources in `Package.swift`: SwiftPM embeds only files that it names, because
/// it treats a catalogue as one file.
enum ServerManual {
  /// The name of the catalogue's landing page.
  static let landing = "SnapshotServer"

  /// The contents of the files by name, without their ending.
  static let files: [String: [UInt8]] = [
    landing: PackageResources.SnapshotServer_md,
    "API": PackageResources.API_md,
    "AccessControl": PackageResources.AccessControl_md,
    "BundleLimits": PackageResources.BundleLimits_md,
    "Calls": PackageResources.Calls_md,
    "Command": PackageResources.Command_md,
    "Deploying": PackageResources.Deploying_md,
    "ManyServers": PackageResources.ManyServers_md,
    "Observability": PackageResources.Observability_md,
    "ResumableUploads": PackageResources.ResumableUploads_md,
    "Retention": PackageResources.Retention_md,
    "Settings": PackageResources.Settings_md,
    "WebPages": PackageResources.WebPages_md,
  ]

  /// The parsed articles.
  static let manual = Manual(files, landing: landing)
}
