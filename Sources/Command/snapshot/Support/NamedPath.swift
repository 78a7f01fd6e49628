import SystemIO

/// A file or folder that an argument or a setting names. It may be a link, which is resolved once, so that everything
/// later uses the same one, and finds no link in its way.
enum NamedPath {
  /// The place that `path` leads to, if it is a link, or else `path`.
  static func resolve(_ path: String) throws(CommandFailure) -> String {
    do {
      return try Folder.resolvingLink(path)
    } catch {
      throw CommandFailure(
        error.isNotFound
          ? "\(path) is a symbolic link that leads nowhere; correct it, or name the folder itself."
          : "\(path) is a symbolic link that can't be resolved: \(error)", status: .refused)
    }
  }
}
