public import Foundation
public import SnapshotFormat
import SystemIO

/// What `AppDataInfo.plist`, beside the container in an `.xcappdata` bundle, says of the app that the data is from.
/// Xcode writes it; a bundle that was made by hand may do without, and each key may be missing.
public struct AppDataInfo: Sendable, Hashable {
  /// The app's bundle identifier, such as `com.example.news`.
  public var identifier: String?
  /// The version that people see.
  public var version: String?
  /// The build's number.
  public var build: String?

  /// The most bytes that the file may have.
  public static let sizeLimit = 1 << 20

  /// Reads the file in the bundle at `bundle`; all is `nil` where there is none.
  public init(bundle: URL) throws(AppDataError) {
    let name = "AppDataInfo.plist"
    let bytes: [UInt8]
    do throws(SystemError) {
      let file = try OpenFolder(bundle.path).file(name)
      guard try file.isRegular else { throw SystemError(operation: "open", path: file.path, code: EINVAL) }
      bytes = try file.read(upTo: Self.sizeLimit + 1, at: 0)
    } catch  where error.isNotFound {
      return
    } catch {
      throw .system(file: name, error)
    }
    guard bytes.count <= Self.sizeLimit else {
      throw .infoMalformed("it has more than \(Self.sizeLimit) bytes")
    }
    let keys: Keys
    do {
      keys = try PropertyListDecoder().decode(Keys.self, from: Data(bytes))
    } catch {
      throw .infoMalformed("it is no property list of the kind that Xcode writes")
    }
    (identifier, version, build) = (keys.identifier, keys.version, keys.build)
  }

  private struct Keys: Decodable {
    var identifier: String?
    var version: String?
    var build: String?

    enum CodingKeys: String, CodingKey {
      case identifier = "CFBundleIdentifier"
      case version = "CFBundleShortVersionString"
      case build = "CFBundleVersion"
    }
  }
}

extension AppData {
  /// Makes a snapshot of the `.xcappdata` bundle at `bundle`: its container becomes the snapshot's `app-data/`. It is
  /// written as ``SnapshotFormat/SnapshotBundle/pack(folder:to:)`` writes one, and read back whole.
  ///
  /// The app is taken from `AppDataInfo.plist`, or named after the bundle where that says nothing. Which device the
  /// data is from is not known there; `device` is the one that packs.
  public static func makeSnapshot(
    of bundle: URL, id: SnapshotID = SnapshotID(), report: ReportID? = nil, createdAt: Date = Date(),
    device: Manifest.Device = .current, limits: ContainerLimits = .default, to zip: URL
  ) throws(AppDataError) -> SnapshotBundle.Packed {
    let container = bundle.appending(path: "AppData")
    guard Folder.isFolder(container.path) else { throw .notAppData(bundle.path) }
    let info = try AppDataInfo(bundle: bundle)
    let name = bundle.standardizedFileURL.deletingPathExtension().lastPathComponent
    let application = Manifest.Application(
      identifier: info.identifier ?? name, version: info.version ?? "-", build: info.build ?? "-")
    let manifest = Manifest(
      id: id, createdAt: createdAt, application: application, device: device, report: report)
    return try SnapshotBundle.pack(container: container, describedBy: manifest, limits: limits, to: zip)
  }
}
