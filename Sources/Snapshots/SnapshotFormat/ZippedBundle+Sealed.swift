import SnapshotSealing
import SystemIO
import ZipArchive

extension ZippedBundle {
  /// The entry with the sealed contents, and what the head says about them; `nil` if the bundle is not sealed.
  func sealedEntry() throws(BundleError) -> (SealedContents, ZipEntry)? {
    guard let sealed = summary.manifest.sealed else { return nil }
    guard let entry = try BundleError.zip(directory.entry(named: BundleLayout.sealed)) else {
      throw .sealedMalformed("it has no \(BundleLayout.sealed)")
    }
    return (sealed, entry)
  }

  /// Checks what can be seen of a sealed bundle without an identity: its entries, the age header, and the number of chunks.
  func checkSealed() throws(BundleError) {
    guard let (sealed, entry) = try sealedEntry() else { return }
    var listing = directory.listing
    while let line = try BundleError.zip(listing.next()) {
      guard line.name == BundleLayout.manifest || line.name == BundleLayout.sealed else {
        throw .sealedMalformed(
          "it contains ‘\(line.name.prefix(200))’ beside \(BundleLayout.manifest) and \(BundleLayout.sealed)")
      }
    }
    guard entry.method == .stored else {
      throw .sealedMalformed("\(BundleLayout.sealed) is compressed instead of stored")
    }
    let header = try Self.sealedHeader(of: entry, in: directory.file)
    // Stanzas that make readers ignore what they don't know.
    let types = header.stanzas.map(\.type).filter { !$0.hasSuffix("-grease") }
    guard types == sealed.recipients.map(\.type) else {
      throw .sealedMalformed(
        "manifest.json names other recipients than \(BundleLayout.sealed), which has \(types.joined(separator: ", "))"
      )
    }
    let expected = Int64(header.size) + Sealer.payloadSize(ofContents: sealed.size)
    guard entry.size == expected else {
      throw .sealedMalformed(
        "\(BundleLayout.sealed) has \(entry.size) bytes, and \(expected) are needed for \(sealed.size) bytes of contents"
      )
    }
  }

  /// The age header at the beginning of `entry`, which is stored.
  static func sealedHeader(of entry: ZipEntry, in file: File) throws(BundleError) -> SealedHeader {
    // Most headers are short.
    for count in [4096, SealedHeader.maximumSize] {
      let bytes = try BundleError.disk(
        file.read(upTo: Int(min(Int64(count), entry.size)), at: entry.dataOffset))
      if let header = try BundleError.sealing(SealedHeader.parse(bytes)) { return header }
    }
    throw .sealing(.truncated)
  }
}
