import Foundation

/// The descriptors of this process. Linux only.
public enum Descriptors {
  /// The number of those that refer to a file whose path, or last path, contains all of `texts`.
  public static func count(of texts: String...) throws -> Int {
    let folder = "/proc/self/fd"
    return try FileManager.default.contentsOfDirectory(atPath: folder).count { name in
      var target = [UInt8](repeating: 0, count: 4096)
      let count = readlink("\(folder)/\(name)", &target, target.count)
      let path = String(decoding: target[..<max(count, 0)], as: UTF8.self)
      return texts.allSatisfy { path.contains($0) }
    }
  }
}
