public import Foundation
public import JSONText

/// `manifest.json`: what a snapshot is, where it came from, and what is recorded in it.
public struct Manifest: Hashable, Sendable {
  /// The version of the format that this code reads and writes.
  public static let currentFormatVersion = 1

  /// The format's version; a newer one than ``currentFormatVersion`` is refused when a bundle is read.
  public var formatVersion = Manifest.currentFormatVersion
  /// The snapshot's name.
  public var id: SnapshotID
  /// When the snapshot was made, to the millisecond.
  public var createdAt: Date
  /// The app that recorded.
  public var application: Application
  /// What it ran on.
  public var device: Device
  /// The bug report that the snapshot was made for, where it is known already.
  public var report: ReportID?
  /// The registered modules and the identifiers that each wants recorded.
  public var modules: [Module]
  /// What is recorded.
  public var recordings: [Recording]
  /// The names of the redaction rules that ran over the recordings.
  public var redactions: [String]
  /// Top-level keys that this version of the format does not know: kept as they are, and written again.
  public var unknown: [String: JSONValue] = [:]

  /// An app.
  public struct Application: Codable, Hashable, Sendable {
    /// The bundle identifier, such as `com.example.news`.
    public var identifier: String
    /// The version that people see, such as `3.1.4`.
    public var version: String
    /// The build's number.
    public var build: String

    /// Names an app.
    public init(identifier: String, version: String, build: String) {
      self.identifier = identifier
      self.version = version
      self.build = build
    }
  }

  /// A device.
  public struct Device: Codable, Hashable, Sendable {
    /// The hardware, such as `iPhone17,1` or `x86_64`.
    public var model: String
    /// The system's name, such as `iOS` or `Linux`.
    public var system: String
    /// The system's version.
    public var systemVersion: String
    /// The user's locale, such as `de_AT`.
    public var locale: String

    /// Describes a device.
    public init(model: String, system: String, systemVersion: String, locale: String) {
      self.model = model
      self.system = system
      self.systemVersion = systemVersion
      self.locale = locale
    }
  }

  /// One recorded piece of data.
  public struct Recording: Codable, Hashable, Sendable {
    /// The identifier that the app gave it: any text.
    public var identifier: String
    /// Where it lies in the bundle, such as `recordings/news%2ffeed`.
    public var path: String
    /// Its length in bytes.
    public var size: Int64
    /// The digest of its bytes.
    public var sha256: ContentDigest
    /// When it was recorded, to the millisecond.
    public var recordedAt: Date
    /// Which call with the identifier it is, where a history is kept: a number that grows from call to call and need
    /// not begin at 1. A recording without one comes before those with one.
    public var call: Int?

    /// Describes a recording.
    public init(
      identifier: String, path: String, size: Int64, sha256: ContentDigest, recordedAt: Date, call: Int? = nil
    ) {
      self.identifier = identifier
      self.call = call
      self.path = path
      self.size = size
      self.sha256 = sha256
      self.recordedAt = SnapshotJSON.milliseconds(of: recordedAt)
    }
  }

  /// Describes a snapshot of the current format.
  public init(
    id: SnapshotID, createdAt: Date, application: Application, device: Device, report: ReportID? = nil,
    modules: [Module] = [], recordings: [Recording] = [], redactions: [String] = []
  ) {
    self.id = id
    self.createdAt = SnapshotJSON.milliseconds(of: createdAt)
    self.application = application
    self.device = device
    self.report = report
    self.modules = modules
    self.recordings = recordings
    self.redactions = redactions
  }
}

/// A part of an app, and the identifiers of the data that it works with.
public struct Module: Codable, Hashable, Sendable {
  /// The module's name, as people see it.
  public var name: String
  /// The identifiers that make it complete when all of them are recorded.
  public var files: [String]

  /// Describes a module.
  public init(name: String, files: [String]) {
    self.name = name
    self.files = files
  }
}
