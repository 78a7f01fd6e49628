package import Foundation
import SnapshotFormat

/// An entry of an archive: a request, its response, and what else a program has noted about them.
package struct ArchiveEntry: Hashable, Sendable {
  /// The object in the archive.
  package private(set) var value: ArchiveValue
  /// Whether all of the entry was read.
  package let isWhole: Bool

  /// Creates an entry from a part of an archive. Members that the format requires are added if they are missing, with
  /// values that say nothing, so that an archive that is written is a valid one.
  package init(_ value: ArchiveValue, isWhole: Bool = true) {
    (self.value, self.isWhole) = (Completion.entry(value), isWhole)
  }

  var request: ArchiveValue { value["request"] ?? .object([]) }
  var response: ArchiveValue { value["response"] ?? .object([]) }

  // MARK: - The exchange

  /// Reads the contents of the file beside the archive with a name. Returns `nil` if there is none. Throws an
  /// ``ArchiveOmission/Reason`` if it can't be used.
  package typealias Files = (_ name: String) throws -> Data?

  /// The exchange with its bodies. Bodies in files become a part of the entry.
  ///
  /// The content of a response in an archive is decoded by definition, also if a field `Content-Encoding` says how it was
  /// sent, and so is the body of a recorded exchange. It is never inflated.
  /// - Throws: An ``ArchiveOmission``, or the error of `files`.
  package mutating func exchange(
    _ limits: ArchiveLimits = ArchiveLimits(), _ files: Files
  ) throws -> ArchivedExchange {
    let method = request["method"]?.text ?? ""
    let address = request["url"]?.text ?? ""
    func omission(_ reason: ArchiveOmission.Reason, _ bytes: Int64 = 0) -> ArchiveOmission {
      ArchiveOmission(reason: reason, method: method, url: address, bytes: max(bytes, 0))
    }
    guard isWhole else { throw omission(.entryTooLarge) }
    guard !method.isEmpty, !address.isEmpty else { throw omission(.noRequest) }
    guard address.utf8.count <= limits.urlLength else {
      throw omission(.urlTooLong, Int64(address.utf8.count))
    }
    guard let url = URL(string: ArchivedURL.encode(address)) else { throw omission(.invalidURL) }

    let status = response["status"]?.integer ?? 0
    guard status <= 0 || 100...999 ~= status else { throw omission(.invalidStatus(status)) }
    var description = Manifest.Exchange(
      request: .init(method: method, url: address, fields: Self.fields(request["headers"])),
      startedAt: startedAt)
    if status > 0 {
      description.response = .init(status: Int(status), fields: Self.fields(response["headers"]))
      description.redirect = redirect(status, from: url, method)
    }
    description.failure = failure(status)
    (description.responseAfter, description.duration) = times(hasResponse: status > 0)
    let size = description.descriptionSize
    guard size <= limits.descriptionSize else { throw omission(.descriptionTooLarge, Int64(size)) }

    let stated = response["content"]?["size"]?.integer
    do {
      try embedFiles(files, limits)
      guard let requestBody = try requestBody() else {
        throw omission(.noRequestBody, request["bodySize"]?.integer ?? 0)
      }
      let body = try Self.text(response["content"] ?? .null)
      guard body != nil || mayBeEmpty(description) else { throw omission(.noBody, stated ?? 0) }
      let isOther = body != nil && (stated ?? -1) >= 0 && stated != Int64(body?.count ?? 0)
      return ArchivedExchange(
        description: description, url: url, requestBody: requestBody, body: body ?? Data(),
        statedSize: isOther ? stated : nil)
    } catch let reason as ArchiveOmission.Reason {
      throw omission(reason, stated ?? 0)
    }
  }

  private var startedAt: Date {
    guard var text = value["startedDateTime"]?.text else { return Date(timeIntervalSince1970: 0) }
    // Some programs write the offset of the time zone without a colon.
    let end = text.suffix(5)
    if let sign = end.first, "+-".contains(sign), end.dropFirst().allSatisfy(\.isNumber) {
      text.insert(":", at: text.index(text.endIndex, offsetBy: -2))
    }
    return SnapshotJSON.time(text) ?? Date(timeIntervalSince1970: 0)
  }

  /// The milliseconds from the start to the response, and to the end. A time of less than 0 is unknown.
  private func times(hasResponse: Bool) -> (responseAfter: Int?, duration: Int) {
    let timings = value["timings"] ?? .null
    func sum(_ names: [String]) -> Double {
      names.reduce(0) { $0 + max(timings[$1]?.double ?? 0, 0) }
    }
    // `ssl` is a part of `connect`.
    let response = sum(["blocked", "dns", "connect", "send", "wait"])
    let stated = max(value["time"]?.double ?? 0, 0)
    let all = stated > 0 ? stated : response + sum(["receive"])
    func milliseconds(_ time: Double) -> Int { Int(min(time, 1e12).rounded()) }
    let duration = milliseconds(all)
    let isKnown = hasResponse && (timings["wait"]?.double ?? -1) >= 0
    return (isKnown ? min(milliseconds(response), duration) : nil, duration)
  }

  private static func fields(_ list: ArchiveValue?) -> [Manifest.Exchange.Field] {
    (list?.elements ?? []).flatMap { field -> [Manifest.Exchange.Field] in
      guard let name = field["name"]?.text, let value = field["value"]?.text,
        // HTTP/2 has the method, the path and the status among its fields.
        !name.isEmpty, !name.hasPrefix(":")
      else { return [] }
      // Browsers write several fields with the same name as one with several lines.
      return value.split(whereSeparator: \.isNewline).map { .init(name, String($0)) }
        + (value.isEmpty ? [.init(name, "")] : [])
    }
  }

  private func redirect(_ status: Int64, from url: URL, _ method: String) -> Manifest.Exchange.Redirect? {
    guard [301, 302, 303, 307, 308].contains(status), let target = response["redirectURL"]?.text,
      !target.isEmpty, let next = URL(string: ArchivedURL.encode(target), relativeTo: url)
    else { return nil }
    let becomesGET = status == 303 ? method != "HEAD" : status <= 302 && method == "POST"
    return .init(method: becomesGET ? "GET" : method, url: next.absoluteString)
  }

  /// The error of an exchange. A browser writes the status 0 if there was no response.
  private func failure(_ status: Int64) -> Manifest.Exchange.Failure? {
    if let noted = value["_failure"], let domain = noted["domain"]?.text, let code = noted["code"]?.integer {
      return .init(domain: domain, code: Int(clamping: code))
    }
    let name = value["_error"]?.text ?? response["_error"]?.text
    let code = name.flatMap { name in Self.failures.first { name.contains($0.key) }?.value }
    guard status <= 0 || code != nil else { return nil }
    return .init(domain: "NSURLErrorDomain", code: code ?? -1005)
  }

  /// Errors of Chromium, and the codes of the same errors on Apple's systems.
  static let failures = [
    "ERR_ABORTED": -999, "ERR_TIMED_OUT": -1001, "ERR_CONNECTION_TIMED_OUT": -1001,
    "ERR_NAME_NOT_RESOLVED": -1003, "ERR_CONNECTION_REFUSED": -1004, "ERR_CONNECTION_RESET": -1005,
    "ERR_CONNECTION_CLOSED": -1005, "ERR_INTERNET_DISCONNECTED": -1009, "ERR_SSL_PROTOCOL_ERROR": -1200,
  ]

  // MARK: - Bodies

  /// Whether a response without a body in the archive had none: the archive says so, or HTTP does.
  private func mayBeEmpty(_ exchange: Manifest.Exchange) -> Bool {
    guard let status = exchange.response?.status, exchange.failure == nil else { return true }
    // Browsers do not keep what a redirect says, and nothing reads it.
    if exchange.redirect != nil || exchange.request.method == "HEAD" || status < 200 { return true }
    if status == 204 || status == 205 || status == 304 { return true }
    return response["content"]?["size"]?.integer == 0 && (response["bodySize"]?.integer ?? 0) <= 0
  }

  /// The body of the request, which is empty if there is none; `nil` if the archive does not have it.
  private func requestBody() throws -> Data? {
    if let content = request["_content"], let body = try Self.text(content) { return body }
    if let posted = request["postData"], posted.isObject {
      if let body = try Self.text(posted) { return body }
      if let body = FormBody.make(posted) { return body }
    }
    return (request["bodySize"]?.integer ?? 0) <= 0 ? Data() : nil
  }

  /// The decoded member `text` of an object; `nil` if it has none.
  private static func text(_ content: ArchiveValue) throws -> Data? {
    guard let text = content["text"]?.bytes else { return nil }
    switch content["encoding"]?.text?.lowercased() {
    case nil, "", "utf-8", "utf8": return Data(text)
    case "base64":
      // Line ends are allowed, as in MIME.
      let digits = text.contains { $0 <= 0x20 } ? text.filter { $0 > 0x20 } : text
      guard let body = Data(base64Encoded: Data(digits)) else { throw ArchiveOmission.Reason.notBase64 }
      return body
    case let name?: throw ArchiveOmission.Reason.unknownEncoding(name)
    }
  }

  /// Puts the bodies that Playwright writes into files beside the archive into the entry, as if it had always had them.
  private mutating func embedFiles(_ files: Files, _ limits: ArchiveLimits) throws {
    if var content = response["content"], let body = try Self.file(content, files, limits) {
      Self.setText(body, isText: true, &content)
      value["response"]?["content"] = content
    }
    if request["_content"] == nil, var posted = request["postData"],
      let body = try Self.file(posted, files, limits)
    {
      if Self.isText(body) {
        Self.setText(body, isText: true, &posted)
        value["request"]?["postData"] = posted
      } else {
        var content = ArchiveValue.object([.init("size", ArchiveValue(body.count))])
        Self.setText(body, isText: false, &content)
        value["request"]?["_content"] = content
      }
    }
  }

  /// The contents of the file that an object names; `nil` if it names none, or has the text itself.
  private static func file(_ content: ArchiveValue, _ files: Files, _ limits: ArchiveLimits) throws
    -> [UInt8]?
  {
    guard content["text"]?.bytes == nil, let name = content["_file"]?.text else { return nil }
    let isPlain = !name.isEmpty && !name.hasPrefix(".") && !name.contains { "/\\:\0".contains($0) }
    guard isPlain, let body = try files(name) else { throw ArchiveOmission.Reason.noFile(name) }
    guard body.count <= limits.fileSize else { throw ArchiveOmission.Reason.fileTooLarge }
    return Array(body)
  }
}

extension ArchiveOmission.Reason: Error {}
