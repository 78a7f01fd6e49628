import HTTPTypes
import SnapshotFormat

extension Operation {
  /// The calls that look after the server.
  static let operations: [Operation] = [
    Operation(
      "readAbout", .get, "/", "Tells what the server is and answers.",
      detail: "Browsers, which accept `text/html`, get a web page instead; pages are no part of the API.",
      parameters: [.ifMatch, .ifNoneMatch, .range],
      answers: [text("A text for people.", fields: ["Accept-Ranges"]), .notModified] + ranges("text/plain"),
      problems: [.preconditionFailed, .rangeNotSatisfiable], fields: ["Vary"], audited: .never),
    Operation(
      "readHealth", .get, "/healthz", "Tells that the server lives.",
      answers: [
        .json(
          200, "It lives.",
          ["type": "object", "required": ["status"], "properties": ["status": ["const": "ok"]]])
      ], audited: .never),
    Operation(
      "readMetrics", .get, "/metrics", "Tells what the server has counted and measured.",
      detail: "In Prometheus' text format.", answers: [text("The metrics.", fields: ["Cache-Control"])],
      problems: [.callerLimited],
      audited: .refusals),
    Operation(
      "readDescription", .get, "/openapi.json", "Describes the API: this document.",
      parameters: [.ifMatch, .ifNoneMatch],
      answers: [
        .json(200, "The description.", ["type": "object"], fields: ["ETag"]), .notModified,
      ],
      problems: [.preconditionFailed], audited: .never),
  ]

  private static func text(_ text: String, fields: [String]) -> Answer {
    Answer(status: 200, text: text, fields: fields, content: ["text/plain": ["type": "string"]])
  }

  private static func ranges(_ type: String) -> [Answer] {
    [
      Answer(
        status: 206, text: "The ranges that were asked for.", fields: ["Accept-Ranges", "Content-Range"],
        content: [type: [:], "multipart/byteranges": [:]])
    ]
  }
}
