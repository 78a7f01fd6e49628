import AccessControl
import PostgreSQLClient
import PostgreSQLStore
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Moves the tokens and keys between the storage folder of one server and the database of several servers.
struct AccessMigration: Sendable {
  /// Which way the files are moved.
  private enum Route: Sendable {
    case fromFolder(String)
    case toFolder(String)
    /// Both stores are used by servers with the same database.
    case none
  }

  private let route: Route
  /// `nil` if the settings name no database.
  private let settings: SharedSettings?
  private let scratch: String

  init(from source: StorageAddress, to target: StorageAddress, settings: SharedSettings, scratch: String) {
    var settings = settings
    switch (source, target) {
    case (.folder(let path), .objectStore(let address)):
      route = .fromFolder(path)
      settings.store = address
    case (.objectStore(let address), .folder(let path)):
      route = .toFolder(path)
      settings.store = address
    default: route = .none
    }
    self.settings = settings.database == nil ? nil : settings
    self.scratch = scratch
  }

  /// Moves the files, if the settings name a database.
  /// - Returns: the number of files that were moved.
  func run() async throws(TransferError) -> Int {
    guard let settings else { return 0 }
    do {
      let configuration = try settings.databaseConfiguration()
      let pool = PostgreSQLPool(configuration)
      defer { pool.close() }
      switch route {
      case .fromFolder(let path): return try await share(AccessFiles(storage: path).read(), pool)
      case .toFolder(let path):
        try await PostgreSQLTokens(pool, storage: path).copy()
        return try AccessFiles(storage: path).read().count
      case .none: return 0
      }
    } catch let error as TransferError {
      throw error
    } catch let error as SystemError {
      throw .system(error)
    } catch let error as SharedSettingsError {
      throw .unusable(error.description)
    } catch {
      throw .unavailable("The database can't be used: \(error) Run the command again.")
    }
  }

  /// Whether a server uses the database; `false` if the settings name none.
  func findsServers() async throws(TransferError) -> Bool {
    guard let settings else { return false }
    do {
      return try await PostgreSQLMaintenanceLock(settings.databaseConfiguration()).isHeld()
    } catch let error as SharedSettingsError {
      throw .unusable(error.description)
    } catch {
      throw .unavailable("The database can't be used: \(error) Run the command again.")
    }
  }

  /// Writes files into the table of all servers, which must be empty or have files with the same keys.
  private func share(_ files: [String: [UInt8]], _ pool: PostgreSQLPool) async throws -> Int {
    // The table is changed by way of a folder, and the source must not change.
    let folder = "\(scratch)/access"
    try Folder.create(folder)
    return try await PostgreSQLTokens(pool, storage: folder).change {
      let copy = AccessFiles(storage: folder)
      let present = try copy.read()
      for (name, contents) in files where AccessFiles.isKey(name) {
        guard present[name] == nil || present[name] == contents else {
          throw TransferError.unusable(
            """
            The database has the tokens of other servers: name another one in server.shared.database, or remove the \
            setting to move no tokens.
            """)
        }
      }
      try copy.replace(with: files)
      return files.count { present[$0.key] != $0.value }
    }
  }

  /// What an operator has to do about tokens and keys; `nil` if nothing.
  var remark: String? {
    switch route {
    case .fromFolder(let path) where settings == nil:
      """
      Tokens and keys are not moved without the setting server.shared.database: copy \(path)/tokens and \(path)/keys \
      to the storage folder of the first server before it starts, and it shares them with all others.
      """
    case .toFolder(let path) where settings == nil:
      """
      Tokens and keys are not moved without the setting server.shared.database: copy the folders tokens and keys of \
      any server's storage folder to \(path) before the server starts.
      """
    default: nil
    }
  }
}
