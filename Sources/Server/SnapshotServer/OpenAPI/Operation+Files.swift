import HTTPTypes
import SnapshotFormat

extension Operation {
  /// The calls that look into a bundle.
  static let files: [Operation] = [
    Operation(
      "listFiles", .get, "/v1/snapshots/{id}/files", "Lists the files of a snapshot.",
      detail: "In the bundle's order. Follow `next`, or the link of the field `Link`, as it is.",
      parameters: [
        .id, .ifMatch, .ifNoneMatch,
        .query(
          "limit", "The most files on the page.",
          ["type": "integer", "minimum": 1, "maximum": 1000, "default": 1000]),
        .query(
          "cursor", "Where to go on: what `next` of the page before said.",
          ["type": "string", "pattern": "^[1-9][0-9]{0,8}$"]),
      ],
      answers: [
        .json(200, "A page.", ["$ref": "#/components/schemas/FilePage"], fields: ["ETag", "Link"]),
        .notModified,
      ], problems: looking),
    Operation(
      "fetchFile", .get, "/v1/snapshots/{id}/files/{path...}",
      "Sends one file of a snapshot, or ranges of it.",
      detail: """
        What lies deflated in the bundle comes with `Content-Encoding: gzip` where that is accepted and no range is \
        asked for. What a browser would run is a download of the type `application/octet-stream`.
        """,
      parameters: [
        .id,
        Parameter(
          name: "path", place: .path, text: "Where the file lies in the bundle; its slashes part segments.",
          schema: ["type": "string", "minLength": 1]),
        .ifMatch, .ifNoneMatch, .range, .ifRange,
        .header("Accept-Encoding", "Which codings are taken; gzip is given."),
      ],
      answers: [
        Answer(
          status: 200, text: "The file.", fields: fields + ["Content-Encoding"],
          content: types.merging(["application/octet-stream": [:]]) { first, _ in first }),
        Answer(
          status: 206, text: "The ranges that were asked for.", fields: fields + ["Content-Range"],
          content: types.merging(["application/octet-stream": [:], "multipart/byteranges": [:]]) { first, _ in
            first
          }),
        Answer(
          status: 304, text: "The content still has the entity tag of If-None-Match.",
          fields: ["Cache-Control", "ETag", "Vary"]),
      ],
      problems: looking + [
        .noSuchFile, .unreadableFile, .onlyCompressed, .rangeNotSatisfiable,
      ]),
  ]

  private static let looking: [ProblemKind] = [
    .malformedSnapshotID, .noSuchSnapshot, .snapshotDeleted, .snapshotDamaged,
    .preconditionFailed,
  ]
  private static let fields = [
    "Accept-Ranges", "Cache-Control", "Content-Disposition", "Content-Security-Policy",
    "Cross-Origin-Resource-Policy", "ETag", "Vary",
  ]
  /// The types that are shown, without their parameters.
  private static var types: [String: JSONValue] {
    let essences = FileType.mediaTypes.map { String($0.prefix { $0 != ";" }) }
    return Dictionary(essences.map { ($0, [:]) }) { first, _ in first }
  }
}
