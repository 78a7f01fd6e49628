import AccessControl
import HTTPEngine
import HTTPTLS
import SnapshotAPI
import Webhooks

/// A part of a running server that takes new settings without a restart.
///
/// Parts change all or nothing: first every part prepares, and only if none has thrown, all are applied.
package struct ReloadablePart: Sendable {
  /// Applies what was prepared. Can't fail.
  package typealias Apply = @Sendable () async -> Void

  /// Reads and validates what the settings need, such as files, and changes nothing. Throws an error whose description
  /// is a sentence for people.
  package let prepare: @Sendable (ServerSettings) throws -> Apply

  /// Creates a part.
  package init(prepare: @escaping @Sendable (ServerSettings) throws -> Apply) { self.prepare = prepare }

  /// Creates a part whose new settings are always valid.
  package init(apply: @escaping @Sendable (ServerSettings) async -> Void) {
    prepare = { settings in { await apply(settings) } }
  }
}

extension ServerApplication {
  /// The parts that ``reload(_:with:)`` changes.
  var reloadableParts: [ReloadablePart] {
    let (server, redirects, certificates, access, uploads, storage, maintenance, webhooks, bodyBytes) = (
      server, redirects, certificates, access, resumableUploads, storage, maintenance, webhooks, bodyBytes
    )
    return [
      ReloadablePart { settings in
        switch (certificates, try settings.certificateSource()) {
        case (nil, nil): return {}
        case (let certificates?, let source?):
          let apply = try certificates.prepareReload(source)
          return { apply() }
        case (nil, _?): throw TLSError("HTTPS is turned on only by a restart of the server.")
        case (_?, nil): throw TLSError("HTTPS is turned off only by a restart of the server.")
        }
      },
      ReloadablePart { settings in
        var limits = settings.limits
        await redirects?.change(limits: limits, trustedProxies: settings.trustedProxies)
        limits.bodyBytes = bodyBytes
        await server.change(limits: limits, trustedProxies: settings.trustedProxies)
      },
      ReloadablePart { access.change($0.rates) },
      ReloadablePart { access.change($0.trustedUser) },
      ReloadablePart { uploads.change($0.uploadOffer) },
      ReloadablePart { settings in
        guard let webhooks else { return {} }
        return try webhooks.prepare(settings.webhooksWithPublicURL)
      },
      ReloadablePart { settings in
        let retention = settings.retention
        guard let counted = storage.counted else {
          guard retention.quotaBytes == nil else { throw ServerError.quotaUnsupported }
          return { await maintenance.change(retention) }
        }
        return {
          counted.quota = retention.quotaBytes
          await maintenance.change(retention)
        }
      },
    ]
  }

  /// Applies those of `settings` that can change while the server runs; others have no effect. Calls must not overlap,
  /// and the server must have been started.
  /// - Parameter others: parts outside the server, such as the log.
  /// - Throws: the error of a part that can't take its settings. Then nothing was changed.
  package func reload(_ settings: ServerSettings, with others: [ReloadablePart] = []) async throws {
    let prepared = try (reloadableParts + others).map { try $0.prepare(settings) }
    for apply in prepared { await apply() }
  }
}
