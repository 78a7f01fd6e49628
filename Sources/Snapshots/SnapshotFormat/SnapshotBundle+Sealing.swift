public import Foundation
public import SnapshotSealing
import SystemIO
import ZipArchive

extension SnapshotBundle {
  /// Seals the bundle `zip` for `recipients`, and writes the sealed bundle to `sealed`, which it replaces atomically. The
  /// result differs from call to call, since each has new keys: seal once, and keep the file.
  ///
  /// Takes constant memory. If sealing fails, nothing has changed.
  /// - Parameters:
  ///   - zip: A bundle that is not sealed. Its structure and its manifest are checked, but not its recordings.
  ///   - recipients: Those who can open it: 1 to 32.
  ///   - parts: What the clear head shows of the manifest.
  ///   - sealed: The location of the sealed bundle.
  /// - Returns: The clear head, and the size and digest of the sealed bundle.
  public static func seal(
    zip: URL, to recipients: [SealingRecipient], showing parts: Set<Manifest.HeadPart> = .usual,
    to sealed: URL
  ) throws(BundleError) -> Packed {
    let bundle = try ZippedBundle(zip, limits: .default)
    try bundle.requireClear()
    let most = SealedContents.Limits().recipients
    guard recipients.count <= most else { throw .sealing(.tooManyRecipients(limit: most)) }
    let source = bundle.directory.file
    let size = try BundleError.disk(source.size)
    var sealer = try BundleError.sealing(Sealer(to: recipients))
    let types = try BundleError.sealing(SealedHeader.parse(sealer.header))?.stanzas.map(\.type) ?? []
    let contents = SealedContents(
      recipients: Swift.zip(types, recipients).map { .init(type: $0, recipient: $1.description) }, size: size)
    let head = try bundle.manifest().head(showing: parts, sealed: contents)
    let length = Int64(sealer.header.count) + Sealer.payloadSize(ofContents: size) - nonceSize
    return try write(head, sealedSize: length, to: sealed) { add throws(BundleError) in
      try add(sealer.header)
      var offset: Int64 = 0
      while offset < size {
        let piece = try BundleError.disk(
          source.read(upTo: Int(min(pieceSize, size - offset)), at: offset))
        guard !piece.isEmpty else { break }
        offset += Int64(piece.count)
        try add(BundleError.sealing(sealer.seal(piece)))
      }
      try add(BundleError.sealing(sealer.finish()))
    }
  }

  /// Opens the sealed bundle `zip` with `identities`, and writes the inner bundle to `inner`, which only this user can read
  /// and which it replaces atomically. `inner` can be `zip` itself.
  ///
  /// Takes constant memory. The file appears only after all of it was authenticated, and its structure and manifest were
  /// checked; after an error, nothing of the contents is left.
  /// - Returns: The manifest of the inner bundle, and its size and digest.
  public static func unseal(
    zip: URL, with identities: [SealingIdentity], to inner: URL
  ) throws(BundleError) -> Packed {
    let bundle = try ZippedBundle(zip, limits: .default)
    guard let (sealed, entry) = try bundle.sealedEntry() else { throw .notSealed }
    var unsealer = Unsealer(with: identities)
    let contents = try BundleError.zip(ZipContents(bundle.directory.file, entry))
    let staging = Staging(beside: inner)
    do throws(BundleError) {
      let file = try BundleError.disk(staging.createFile())
      var size: Int64 = 0
      func add(_ bytes: [UInt8]) throws(BundleError) {
        try BundleError.disk(file.write(bytes, at: size))
        size += Int64(bytes.count)
      }
      while let piece = try BundleError.zip(contents.next()) {
        try add(BundleError.sealing(unsealer.open(piece)))
      }
      try add(BundleError.sealing(unsealer.finish()))
      guard size == sealed.size else { throw .headDiffers }
      let opened = try ZippedBundle(URL(filePath: staging.path), limits: .default)
      try opened.requireClear()
      let manifest = try opened.manifest()
      guard bundle.summary.manifest.describes(manifest) else { throw .headDiffers }
      let sha256 = try BundleError.disk(staging.publish(file, at: inner))
      return Packed(manifest: manifest, size: size, sha256: sha256)
    } catch {
      staging.remove()
      throw error
    }
  }

  /// Seals the sealed bundle `zip` to further recipients, or to others instead, and writes the result to `other`, which it
  /// replaces atomically. The encrypted contents stay as they are, byte by byte, and are authenticated on the way; recipients
  /// of types that this software does not know stay too.
  ///
  /// The result is a new bundle with a UUID of its own, whose head names `zip`. It does not take from anybody what they can
  /// already open: whoever has `zip` and an old identity can still read it.
  /// - Parameters:
  ///   - zip: A sealed bundle.
  ///   - identities: The identities, one of which opens it.
  ///   - recipients: The new recipients.
  ///   - removingOthers: Whether all recipients that it had are removed, except those of unknown types.
  ///   - other: The location of the result.
  /// - Returns: The clear head, and the size and digest of the result.
  public static func rewrap(
    zip: URL, with identities: [SealingIdentity], to recipients: [SealingRecipient], removingOthers: Bool,
    to other: URL
  ) throws(BundleError) -> Packed {
    let bundle = try ZippedBundle(zip, limits: .default)
    guard let (sealed, entry) = try bundle.sealedEntry() else { throw .notSealed }
    let header = try ZippedBundle.sealedHeader(of: entry, in: bundle.directory.file)
    let new = try BundleError.sealing(
      header.rewrapped(with: identities, to: recipients, removingOthers ? .replacing : .adding))
    let unknown = header.unknownTypes
    let kept = removingOthers ? sealed.recipients.filter { unknown.contains($0.type) } : sealed.recipients
    let added = Swift.zip(new.stanzas.suffix(recipients.count), recipients).map {
      SealedContents.Recipient(type: $0.type, recipient: $1.description)
    }
    var head = bundle.summary.manifest
    head.sealed?.recipients = kept + added
    head.sealed?.bundle = sealed.bundle ?? head.id
    head.sealed?.rewrapped = head.id
    head.id = SnapshotID()
    let most = SealedContents.Limits().recipients
    guard kept.count + added.count <= most else { throw .sealing(.tooManyRecipients(limit: most)) }
    let bytes = new.bytes
    let length = Int64(bytes.count) + entry.size - Int64(header.size)
    let contents = try BundleError.zip(ZipContents(bundle.directory.file, entry))
    return try write(head, sealedSize: length, to: other) { add throws(BundleError) in
      try add(bytes)
      var unsealer = Unsealer(with: identities)
      var rest = header.size
      while let piece = try BundleError.zip(contents.next()) {
        _ = try BundleError.sealing(unsealer.open(piece))
        try add(Array(piece.dropFirst(rest)))
        rest -= min(rest, piece.count)
      }
      _ = try BundleError.sealing(unsealer.finish())
    }
  }

  /// What the clear head of the bundle at `zip` says about its sealed contents; `nil` if it is not sealed, or can't be read.
  /// Takes constant time.
  public static func sealedContents(of zip: URL) -> SealedContents? {
    do throws(BundleError) {
      let bundle = try CheckedBundle(BundleError.disk(ZippedBundle.open(zip)))
      guard try bundle.entry(at: BundleLayout.sealed) != nil else { return nil }
      return try bundle.readManifest { _ in }.sealed
    } catch {
      // Whoever opens the bundle gets the error.
      return nil
    }
  }

  private static let pieceSize: Int64 = 1 << 20
  /// The length of the nonce, which ``Sealer/header`` includes.
  private static let nonceSize: Int64 = 16

  private static func write(
    _ head: Manifest, sealedSize: Int64, to url: URL,
    _ body: (_ add: ([UInt8]) throws(BundleError) -> Void) throws(BundleError) -> Void
  ) throws(BundleError) -> Packed {
    try write(head, json: Array(head.json()), to: url) { writer throws(BundleError) in
      var entry = try BundleError.zip(writer.beginStored(BundleLayout.sealed, size: sealedSize))
      try body { bytes throws(BundleError) in try BundleError.zip(entry.write(bytes)) }
      try BundleError.zip(writer.finish(entry))
    }
  }
}

extension BundleError {
  /// Runs `body` and reports its failures as those of the age file.
  static func sealing<Value>(_ body: @autoclosure () throws(SealingError) -> Value) throws(BundleError)
    -> Value
  {
    do { return try body() } catch { throw .sealing(error) }
  }
}
