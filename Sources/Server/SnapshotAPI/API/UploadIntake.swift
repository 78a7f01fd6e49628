import AccessControl
import Foundation
package import HTTPEngine
package import HTTPSemantics
package import HTTPTypes
import Observability
package import SnapshotFormat
import SnapshotService
import SnapshotStore
import SystemIO

/// Reads an upload from a request, whose body is either the bundle or a form with the bundle in its part `snapshot`. The
/// part can also be a file that a ``BundleConverter`` makes a bundle of.
///
/// It is created from the request's head only, so that a request can be refused before its body is read.
package struct UploadIntake {
  private enum Format {
    case zip
    case form(MediaType)
  }

  /// The name of the form's part that contains the bundle.
  static let partName = "snapshot"
  /// The name of the form's field for the time at which the snapshot expires, like the header field `Snapshot-Expires`.
  package static let endName = "expires"

  private let body: HTTPRequestBody
  private let format: Format
  private let limits: ServiceLimits
  /// The digest of the whole body that the sender stated.
  private let stated: (digest: ContentDigest, field: HTTPField.Name)?
  /// The expiration that the request's head states.
  private let end: SnapshotEnd?
  private let now: Date
  private let converter: (any BundleConverter)?

  /// Validates the head of `request`.
  /// - Parameters:
  ///   - converter: makes bundles of files in another format; `nil` accepts bundles only.
  ///   - now: when the request arrived.
  init(
    _ request: HTTPServerRequest, limits: ServiceLimits, meter: UploadMeter,
    converter: (any BundleConverter)? = nil, now: Date = Date()
  ) throws(HTTPProblem) {
    let fields = request.headerFields
    self.converter = converter
    self.now = now
    end = try Self.end(in: fields)
    try Self.checkCoding(fields)
    switch Self.type(in: fields) {
    case let type? where type.essence == "application/zip": format = .zip
    case let type? where type.essence == "multipart/form-data": format = .form(type)
    default: throw HTTPProblem.unsupportedMediaType(fields[.contentType])
    }
    body = meter.counting(request.body)
    self.limits = limits
    stated = try Self.statedDigest(in: fields)
    if let length = body.declaredLength, length > bodyLimit {
      throw HTTPProblem.tooLarge(limit: bodyLimit)
    }
    try meter.admit(body.declaredLength)
  }

  /// The digest of the bundle, if the head states it.
  var expected: ContentDigest? {
    if case .zip = format { stated?.digest } else { nil }
  }

  /// The least number of bytes that the bundle, or the file to convert, has, if the head states it.
  var leastLength: Int64? {
    guard let length = body.declaredLength else { return nil }
    if case .zip = format { return length }
    return max(length - (limits.formBytes - limits.bundleBytes), 0)
  }

  /// Reads the whole body, and the bundle in it by `reading`.
  /// - Returns: `attachment` with the metadata that was sent with the bundle.
  func receive(_ attachment: Attachment, by reading: BodyReading) async throws -> Attachment {
    var received = attachment
    switch format {
    case .zip:
      var pieces = body.makeAsyncIterator()
      try await reading.read { try await pieces.next() }
    case .form(let type):
      guard let stated else {
        try await receiveForm(body, type, by: reading, &received)
        break
      }
      let check = ContentCheck(.before(.init(.sha256, stated.digest.bytes)))
      try await receiveForm(check.observing(body), type, by: reading, &received)
      do { try check.judge() } catch { throw HTTPProblem.digestMismatch(stated.field) }
    }
    received.expiresAt = try end(received.metadata.removeValue(forKey: Self.endName))?.time(from: now)
    return received
  }

  /// The expiration in the form's field, whose text is `text`, or else in the head. Throws if the two differ.
  private func end(_ text: String?) throws(HTTPProblem) -> SnapshotEnd? {
    guard let text else { return end }
    let stated = try Self.end(text, Self.endName)
    guard end == nil || end == stated else {
      throw HTTPProblem.malformedForm(
        "The form's field ‘\(Self.endName)’ and Snapshot-Expires state two different times.")
    }
    return stated
  }

  /// The expiration that a head states.
  package static func end(in fields: HTTPFields) throws(HTTPProblem) -> SnapshotEnd? {
    guard let text = fields[.snapshotExpires] else { return nil }
    return try end(text, HTTPField.Name.snapshotExpires.rawName)
  }

  /// The media type of a body. A body without a stated type is treated as a bundle (RFC 9110 §8.3).
  package static func type(in fields: HTTPFields) -> MediaType? {
    guard let text = fields[.contentType] else { return MediaType("application/zip") }
    return MediaType(text)
  }

  /// Throws if the body has a content coding.
  package static func checkCoding(_ fields: HTTPFields) throws(HTTPProblem) {
    guard let coding = fields[.contentEncoding], coding.lowercased() != "identity" else { return }
    throw HTTPProblem.unsupportedCoding(coding)
  }

  private static func end(_ text: String, _ name: String) throws(HTTPProblem) -> SnapshotEnd {
    guard let end = SnapshotEnd(text) else { throw HTTPProblem.malformedEnd(name, text) }
    return end
  }

  private var bodyLimit: Int64 {
    if case .zip = format { limits.bundleBytes } else { limits.formBytes }
  }

  private func receiveForm(
    _ body: HTTPRequestBody, _ type: MediaType, by reading: BodyReading, _ received: inout Attachment
  ) async throws {
    var form = try MultipartFormData(body, contentType: type, limits: limits.form)
    var hasBundle = false
    while let part = try await form.nextPart() {
      try Self.checkCoding(of: part)
      if part.name == Self.partName {
        guard !hasBundle else {
          throw HTTPProblem.malformedForm("The form has two parts ‘\(part.name)’.")
        }
        hasBundle = true
        try await receiveBundle(part, from: &form, by: reading, &received)
      } else {
        try await receiveField(part, from: &form, into: &received.metadata)
      }
    }
    guard hasBundle else {
      throw HTTPProblem.malformedForm("The form has no part ‘\(Self.partName)’ that holds the bundle.")
    }
  }

  private func receiveBundle(
    _ part: MultipartPart, from form: inout MultipartFormData, by reading: BodyReading,
    _ received: inout Attachment
  ) async throws {
    let stated = try Self.statedDigest(in: part.headerFields)
    // Browsers send an empty file for a field in which none was chosen.
    var first = try await form.nextPiece()
    guard first != nil else {
      throw HTTPProblem.malformedForm(
        "The part ‘\(part.name)’ of the form is empty. Choose the bundle that it is to hold.")
    }
    guard let converter, let name = part.fileName, converter.converts(name) else {
      received.expected = stated?.digest
      return try await reading.read {
        if let piece = first.take() { return piece }
        return try await form.nextPiece()
      }
    }
    // The digest is that of the file, and not of the bundle.
    let check = stated.map { ContentCheck(.before(.init(.sha256, $0.digest.bytes))) }
    do {
      let bundle = try await converter.bundle(of: name, for: received.report) {
        let next = if let piece = first.take() { piece } else { try await form.nextPiece() }
        if let next { await check?.update(next) }
        return next
      }
      if let stated { do { try check?.judge() } catch { throw HTTPProblem.digestMismatch(stated.field) } }
      try await reading.read(bundle)
    } catch let refusal as ConversionRefusal {
      throw HTTPProblem(.invalidBundle, detail: refusal.reason)
    }
  }

  /// Throws if the data of the part is encoded. Senders of forms must not do so (RFC 7578 §4.7), but some libraries do.
  private static func checkCoding(of part: MultipartPart) throws(HTTPProblem) {
    let plain: [HTTPField.Name: Set<String>] = [
      .contentEncoding: ["identity"], .contentTransferEncoding: ["7bit", "8bit", "binary"],
    ]
    for field in part.headerFields {
      guard let codings = plain[field.name], !codings.contains(field.value.lowercased()) else { continue }
      throw HTTPProblem.malformedForm(
        """
        The part ‘\(part.name.prefix(100))’ of the form is encoded: its \(field.name) is ‘\(field.value.prefix(100))’. \
        Send its bytes as they are.
        """)
    }
  }

  private func receiveField(
    _ part: MultipartPart, from form: inout MultipartFormData, into metadata: inout [String: String]
  ) async throws {
    let name = part.name
    guard name.utf8.count <= limits.metadataNameBytes else {
      throw HTTPProblem.formTooLarge(
        "A field of the form has a name of more than \(limits.metadataNameBytes) bytes.")
    }
    guard metadata.count < limits.metadataFields else {
      throw HTTPProblem.formTooLarge(
        "The form has more than \(limits.metadataFields) fields besides the bundle.")
    }
    guard metadata[name] == nil else {
      throw HTTPProblem.malformedForm("The form has the field ‘\(name)’ twice.")
    }
    let limit = name == SnapshotRecord.noteKey ? limits.noteBytes : limits.metadataValueBytes
    let bytes = try await form.value(of: name, upTo: limit)
    guard let value = String(validating: bytes, as: UTF8.self), !value.utf8.contains(0) else {
      throw HTTPProblem.malformedForm("The field ‘\(name)’ of the form is not text in UTF-8.")
    }
    // A field for a file in which none was chosen.
    guard part.fileName != "" || !value.isEmpty else { return }
    metadata[name] = value
  }

  /// The digest in `Repr-Digest` or `Content-Digest`. Without a content coding, both refer to the same bytes (RFC
  /// 9530).
  private static func statedDigest(
    in fields: HTTPFields
  ) throws(HTTPProblem) -> (digest: ContentDigest, field: HTTPField.Name)? {
    var stated: (digest: ContentDigest, field: HTTPField.Name)?
    for name in [HTTPField.Name.reprDigest, .contentDigest] {
      guard let digest = try digest(name, in: fields) else { continue }
      if let stated, stated.digest != digest { throw HTTPProblem.digestMismatch(name) }
      stated = (digest, name)
    }
    return stated
  }

  /// The SHA-256 digest in the field `name`; `nil` if it has none.
  package static func digest(
    _ name: HTTPField.Name, in fields: HTTPFields
  ) throws(HTTPProblem) -> ContentDigest? {
    let field: DigestField?
    do { field = try DigestField(name, in: fields) } catch { throw .badRequest(error.description) }
    return field?.sha256.flatMap { ContentDigest(bytes: $0) }
  }
}
