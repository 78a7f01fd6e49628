public import Foundation
public import SnapshotFormat
import SystemIO

/// The app that the data belongs to, from `AppDataInfo.plist` beside the container in an `.xcappdata` bundle. Xcode
/// writes the file; the file and each of its keys are optional.
public struct AppDataInfo: Sendable, Hashable {
  /// The app's bundle identifier, such as `com.example.news`.
  public var identifier: String?
  /// The version that users see.
  public var version: String?
  /// The build number.
  public var build: String?

  /// The maximum size of the file in bytes.
  public static let sizeLimit = 1 << 20

  /// Reads the file in the bundle at `bundle`. If there is none, all properties are `nil`.
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
      throw .infoMalformed("it is not a property list with the expected types")
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
  /// Makes a snapshot of the `.xcappdata` bundle at `bundle`: its container becomes the snapshot's `app-data/`. The
  /// snapshot is written and verified as by ``/SnapshotFormat/SnapshotBundle/pack(folder:to:)``.
  ///
  /// The application is taken from `AppDataInfo.plist`, or named after the bundle if the file has no identifier. The
  /// bundle does not contain the original device; `device` is by default the one that runs this code.
  public static func makeSnapshot(
    of bundle: URL, id: SnapshotID = SnapshotID(), report: ReportID? = nil, createdAt: Date = Date(),
    device: Manifest.Device = .current, note: String? = nil, fields: [String: String] = [:],
    limits: ContainerLimits = .default, to zip: URL
  ) throws(AppDataError) -> SnapshotBundle.Packed {
    let container = bundle.appending(path: "AppData")
    guard Folder.isFolder(container.path) else { throw .notAppData(bundle.path) }
    let info = try AppDataInfo(bundle: bundle)
    let name = bundle.standardizedFileURL.deletingPathExtension().lastPathComponent
    let application = Manifest.Application(
      identifier: info.identifier ?? name, version: info.version ?? "-", build: info.build ?? "-")
    let manifest = Manifest(
      id: id, createdAt: createdAt, application: application, device: device, report: report, note: note,
      fields: fields)
    return try SnapshotBundle.pack(container: container, describedBy: manifest, limits: limits, to: zip)
  }
}
