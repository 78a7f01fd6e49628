import AccessControl
package import HTTPEngine
package import Logging
import SnapshotAPI
package import SnapshotFormat
import SnapshotService
package import SnapshotStore
import SnapshotWeb
package import SystemIO

/// A server that shows snapshots to the user who started it, and to nobody else: the web pages over a folder of its own,
/// on loopback, for reading only. It is used by `snapshot view`.
///
/// One browser is let in, by ``signInPath(to:)``, and has a session from then on. Everyone else is refused, also other users
/// of the machine. The server responds only under a name of this machine. It writes nothing outside of its folder, which
/// the caller removes after ``close()``.
package final class LocalReader: Sendable {
  /// How long a session lasts, at most. It ends with the process, which usually is sooner.
  private static let longestSession = Duration.seconds(30 * 24 * 3600)
  /// The most bytes of a bundle.
  private static let maximumBundleBytes: Int64 = 1 << 40
  /// The number of bytes that are copied at once.
  private static let pieceBytes = 1 << 20

  private let application: ServerApplication
  private let link: SignInLink

  /// Composes a server over an empty folder. Nothing runs yet.
  /// - Parameters:
  ///   - folder: the path of the folder, which is created if it does not exist. Nobody else should be able to read it.
  ///   - port: the port to listen on; 0 selects a free one.
  package static func open(
    _ folder: String, port: UInt16 = 0, logger: Logger
  ) async throws(ServerError) -> LocalReader {
    var settings = ServerSettings(port: Int(port), storage: folder)
    // The folder is gone before a verification would be due, and other programs may write much to its volume.
    settings.retention.scrubInterval = nil
    settings.sharesFlushes = false
    settings.eventLoops = 1
    settings.maximumBundleBytes = maximumBundleBytes
    let storage = try await ServerStorage.open(settings, logger: logger)
    do throws(ServerError) {
      var configuration = settings.access
      configuration.opensWithoutTokens = false
      (configuration.sessions.idle, configuration.sessions.longest) = (longestSession, longestSession)
      let link: SignInLink
      let access: AccessPolicy
      do throws(TokenStoreError) {
        link = SignInLink(
          token: try TokenStore(storage: folder).create(TokenStore.Request(scopes: [.read])).secret)
        configuration.signInLink = link
        access = try AccessPolicy(configuration, logger: logger)
      } catch {
        throw .tokens(error)
      }
      let application = ServerApplication(settings, storage: storage, access: access, logger: logger)
      await application.indexer.prepare(storeIsEmpty: true, isReconciled: storage.isReconciled)
      return LocalReader(application, link)
    } catch {
      await storage.close()
      throw error
    }
  }

  private init(_ application: ServerApplication, _ link: SignInLink) {
    self.application = application
    self.link = link
  }

  /// Copies a bundle into the folder, and returns its record. Checks its structure; the checksums of a large bundle are
  /// verified in the background, and its pages show the result.
  /// - Parameter attachment: the report, and the metadata in addition to the manifest's. With a UUID, the same bundle is
  ///   added only once; without one, another bundle with the manifest's UUID gets a new one.
  package func add(_ zip: String, as attachment: Attachment) async throws -> SnapshotRecord {
    let bundle = LocalBundle(zip, isTemporary: false)
    let (size, sha256) = try await bundle.measure()
    var attachment = attachment
    attachment.expected = sha256
    let store = application.storage.store
    let upload = try await store.beginTransientUpload(
      UploadTerms(.whole(attachment), dialect: "local"), limit: Self.maximumBundleBytes, expecting: size)
    do {
      try await copy(zip, to: upload)
      _ = try await upload.end(.finished)
      let record = try await upload.commit(attachment).record
      try await application.storage.catalog.insert(record)
      return record
    } catch {
      await upload.discard()
      throw error
    }
  }

  private func copy(_ path: String, to upload: any TransientUpload) async throws {
    let queue = ServerQueues.shared.readers.next
    let file = try await queue.perform { () throws(SystemError) in try File(path) }
    var offset: Int64 = 0
    while true {
      let piece = try await queue.perform { [offset] () throws(SystemError) in
        IOBuffer(try file.read(upTo: Self.pieceBytes, at: offset))
      }
      guard piece.count > 0 else { return }
      offset += Int64(piece.count)
      try await upload.write(piece)
    }
  }

  /// Starts to listen, and returns the server's address.
  package func start() async throws(HTTPServerError) -> ListenAddress { try await application.start() }

  /// Serves until ``stop()``.
  package func run() async throws(HTTPServerError) { try await application.server.run() }

  /// Stops serving soon.
  package func stop() async { await application.server.shutdown(deadline: .seconds(1)) }

  /// Ends the server, and releases the folder.
  package func close() async { await application.close() }

  /// The path that signs one browser in, once, and leads to the page of `snapshot`, or to the list of all.
  package func signInPath(to snapshot: SnapshotID? = nil) -> String {
    WebPages.path(of: link, next: snapshot.map { WebPages.path(of: $0) } ?? WebPages.home)
  }

  /// The path of the comparison of two snapshots, for the browser that is signed in.
  package static func path(ofComparing id: SnapshotID, with other: SnapshotID) -> String {
    WebPages.path(ofComparing: id, with: other)
  }
}
