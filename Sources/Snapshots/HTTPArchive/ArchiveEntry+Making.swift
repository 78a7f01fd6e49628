import Foundation
package import SnapshotFormat

extension ArchiveEntry {
  /// Makes the entry of an exchange that an app has recorded, without its bodies. Its protocol is not known: HTTP/1.1 is
  /// written.
  package static func make(_ exchange: Manifest.Exchange) -> ArchiveValue {
    let response = exchange.response
    let redirect = exchange.redirect?.url ?? ""
    let type = exchange.responseField("Content-Type") ?? "x-unknown"
    let wait = exchange.responseAfter ?? exchange.duration
    var entry = ArchiveValue.object([
      .init("startedDateTime", ArchiveValue(SnapshotJSON.text(of: exchange.startedAt))),
      .init("time", ArchiveValue(exchange.duration)),
      .init(
        "request",
        .object([
          .init("method", ArchiveValue(exchange.request.method)),
          .init("url", ArchiveValue(exchange.request.url)),
          .init("httpVersion", ArchiveValue("HTTP/1.1")), .init("cookies", .array([])),
          .init("headers", list(exchange.request.fields)),
          .init("queryString", query(exchange.request.url)),
          .init("headersSize", ArchiveValue(-1)),
          .init("bodySize", ArchiveValue(Int(exchange.request.body?.size ?? 0))),
        ])),
      .init(
        "response",
        .object([
          .init("status", ArchiveValue(response?.status ?? 0)), .init("statusText", ArchiveValue("")),
          .init("httpVersion", ArchiveValue("HTTP/1.1")), .init("cookies", .array([])),
          .init("headers", list(response?.fields ?? [])),
          .init(
            "content", .object([.init("size", ArchiveValue(0)), .init("mimeType", ArchiveValue(type))])),
          .init("redirectURL", ArchiveValue(redirect)), .init("headersSize", ArchiveValue(-1)),
          .init("bodySize", ArchiveValue(-1)),
        ])),
      .init("cache", .object([])),
      .init(
        "timings",
        .object([
          .init("send", ArchiveValue(0)), .init("wait", ArchiveValue(wait)),
          .init("receive", ArchiveValue(max(exchange.duration - wait, 0))),
        ])),
    ])
    if exchange.request.body != nil {
      let type = exchange.request.fields.first { $0.name.lowercased() == "content-type" }?.value ?? ""
      entry["request"]?["postData"] = .object([
        .init("mimeType", ArchiveValue(type)), .init("text", ArchiveValue("")),
      ])
    }
    if let failure = exchange.failure {
      // Other programs know the names of Chromium.
      let name = failures.filter { $0.value == failure.code }.keys.min() ?? "ERR_FAILED"
      entry["_error"] = ArchiveValue("net::\(name)")
      entry["_failure"] = .object([
        .init("domain", ArchiveValue(failure.domain)), .init("code", ArchiveValue(failure.code)),
      ])
    }
    return entry
  }

  private static func list(_ fields: [Manifest.Exchange.Field]) -> ArchiveValue {
    .array(fields.map { pair($0.name, $0.value) })
  }

  private static func query(_ url: String) -> ArchiveValue {
    let items = URLComponents(string: url)?.queryItems ?? []
    return .array(items.map { pair($0.name, $0.value ?? "") })
  }

  private static func pair(_ name: String, _ value: String) -> ArchiveValue {
    .object([.init("name", ArchiveValue(name)), .init("value", ArchiveValue(value))])
  }
}
