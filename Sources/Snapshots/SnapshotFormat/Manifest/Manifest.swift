public import Foundation
public import JSONText

/// The contents of `manifest.json`: the identity, origin and recordings of a snapshot.
public struct Manifest: Hashable, Sendable {
  /// The version of the format of a snapshot that everybody can read.
  public static let currentFormatVersion = 1
  /// The version of the format of a sealed bundle, whose manifest is its clear head. It is the newest version that this
  /// code reads.
  public static let sealedFormatVersion = 2

  /// The version of the format. A version above ``sealedFormatVersion`` is rejected when a bundle is read.
  public var formatVersion = Manifest.currentFormatVersion
  /// The identifier of the snapshot.
  public var id: SnapshotID
  /// The time at which the snapshot was made, with millisecond precision.
  public var createdAt: Date
  /// The app that made the snapshot.
  public var application: Application
  /// The device on which the app ran.
  public var device: Device
  /// The bug report of the snapshot, if it is already known.
  public var report: ReportID?
  /// The registered modules and the identifiers that each expects to be recorded.
  public var modules: [Module]
  /// The recordings.
  public var recordings: [Recording]
  /// The names of the redaction rules that were applied to the recordings.
  public var redactions: [String]
  /// What the user wrote about the snapshot, as plain text; `nil` if nothing.
  public var note: String?
  /// Further descriptions by name, such as `severity` or `steps`.
  public var fields: [String: String]
  /// What the clear head of a sealed bundle says about its contents; `nil` in the manifest of a snapshot. The head has no
  /// ``recordings``, and what it does not show is hidden: ``Application/hidden``, ``Device/hidden``, and nothing.
  public var sealed: SealedContents?
  /// Unknown top-level keys. They are preserved when the manifest is written.
  public var unknown: [String: JSONValue] = [:]

  /// An app.
  public struct Application: Codable, Hashable, Sendable {
    /// The bundle identifier, such as `com.example.news`.
    public var identifier: String
    /// The version shown to users, such as `3.1.4`.
    public var version: String
    /// The build number.
    public var build: String

    /// The app of a sealed bundle that does not show it.
    public static let hidden = Application(identifier: "-", version: "-", build: "-")

    /// Creates the description of an app.
    public init(identifier: String, version: String, build: String) {
      self.identifier = identifier
      self.version = version
      self.build = build
    }
  }

  /// A device.
  public struct Device: Codable, Hashable, Sendable {
    /// The hardware model, such as `iPhone17,1` or `x86_64`.
    public var model: String
    /// The name of the operating system, such as `iOS` or `Linux`.
    public var system: String
    /// The version of the operating system.
    public var systemVersion: String
    /// The user's locale, such as `de_AT`.
    public var locale: String

    /// The device of a sealed bundle that does not show it.
    public static let hidden = Device(model: "-", system: "-", systemVersion: "-", locale: "-")

    /// Creates the description of a device.
    public init(model: String, system: String, systemVersion: String, locale: String) {
      self.model = model
      self.system = system
      self.systemVersion = systemVersion
      self.locale = locale
    }
  }

  /// A recorded piece of data.
  public struct Recording: Codable, Hashable, Sendable {
    /// The identifier assigned by the app, which can be any text.
    public var identifier: String
    /// The path in the bundle, such as `recordings/news%2ffeed`.
    public var path: String
    /// The size in bytes.
    public var size: Int64
    /// The digest of the contents.
    public var sha256: ContentDigest
    /// The time of the recording, with millisecond precision.
    public var recordedAt: Date
    /// The number of the call with this identifier, if a history is kept. It increases from call to call and need not
    /// start at 1. A recording without a number comes before those with one.
    public var call: Int?
    /// The HTTP exchange whose response has these contents as its body; `nil` for other data.
    public var exchange: Exchange?

    /// Creates the description of a recording.
    public init(
      identifier: String, path: String, size: Int64, sha256: ContentDigest, recordedAt: Date,
      call: Int? = nil,
      exchange: Exchange? = nil
    ) {
      self.exchange = exchange
      self.identifier = identifier
      self.call = call
      self.path = path
      self.size = size
      self.sha256 = sha256
      self.recordedAt = SnapshotJSON.milliseconds(of: recordedAt)
    }
  }

  /// Creates a manifest in the current version of the format.
  public init(
    id: SnapshotID, createdAt: Date, application: Application, device: Device, report: ReportID? = nil,
    modules: [Module] = [], recordings: [Recording] = [], redactions: [String] = [], note: String? = nil,
    fields: [String: String] = [:]
  ) {
    self.id = id
    self.createdAt = SnapshotJSON.milliseconds(of: createdAt)
    self.application = application
    self.device = device
    self.report = report
    self.modules = modules
    self.recordings = recordings
    self.redactions = redactions
    self.note = note
    self.fields = fields
  }
}

/// A part of an app, and the identifiers of the data that it uses.
public struct Module: Codable, Hashable, Sendable {
  /// The name shown to users.
  public var name: String
  /// The identifiers that must all be recorded for the module to be complete.
  public var files: [String]

  /// Creates a module.
  public init(name: String, files: [String]) {
    self.name = name
    self.files = files
  }
}
