import HTTPTypes
import SnapshotFormat
import SnapshotStore

extension Operation {
  /// The calls that list snapshots, and look after what they are listed by.
  static let lists: [Operation] = [
    Operation(
      "listSnapshots", .get, "/v1/snapshots", "Lists snapshots, the newest first.", detail: paging,
      parameters: [filter("report", "Only what is attached to this report.", report)] + filters + page,
      answers: [list], problems: [.malformedReportID, .catalogIncomplete]),
    Operation(
      "listReport", .get, "/v1/reports/{report}/snapshots", "Lists what is attached to a bug report.",
      detail: paging, parameters: [.report] + filters + page, answers: [list],
      problems: [.malformedReportID, .outsideLimits, .catalogIncomplete]),
    Operation(
      "readReindex", .get, "/v1/reindex", "Tells how far the catalogue is.",
      answers: [.json(200, "How far it is.", indexing)], problems: [.callerLimited]),
    Operation(
      "reindex", .post, "/v1/reindex", "Has the catalogue made anew, and does not wait for it.",
      answers: [.json(202, "How far it is.", indexing)], problems: [.callerLimited]),
    Operation(
      "readReadiness", .get, "/readyz", "Tells whether uploads are taken and lists answered.",
      answers: [
        .json(200, "They are.", readiness),
        .json(503, "Not now, and why.", readiness, fields: ["Retry-After"]),
      ],
      audited: .never),
  ]

  private static let paging = """
    Follow `next`, or the link of the field `Link`, as it is: the pages hold every snapshot that was there at the \
    beginning and is still there, each once. All filters that are given hold together; parameters that are not known \
    are refused.
    """
  private static let report: JSONValue = ["$ref": "#/components/schemas/ReportID"]
  private static let indexing: JSONValue = ["$ref": "#/components/schemas/Indexing"]
  private static let readiness: JSONValue = ["$ref": "#/components/schemas/Readiness"]
  private static let text: JSONValue = [
    "type": "string", "minLength": 1, "maxLength": .integer(Int64(SearchLimits.filterBytes)),
  ]
  private static let filters: [Parameter] = [
    filter("application", "Only snapshots of the application with this identifier.", text),
    filter("version", "Only of this version of it, and those below it: 3.1 is 3.1.4 too.", text),
    filter("minVersion", "Only of this version and later ones; not beside `version`.", text),
    filter("maxVersion", "Only of this version and earlier ones; not beside `version`.", text),
    filter("module", "Only with a module of this name.", text),
    filter("identifier", "Only where this identifier is recorded.", text),
    filter("device", "Only from such a device or system: `iPhone17,1`, `iOS`, `iOS 26.1`.", text),
    filter("after", "Only what came at this time or later: RFC 3339, or a day.", text),
    filter("before", "Only what came before this time.", text),
    filter("text", "Only where all of these words occur.", text),
    filter("total", "Whether to count all that there are.", ["type": "boolean", "default": false]),
  ]
  private static let page: [Parameter] = [
    .query(
      "limit", "The most snapshots on the page.",
      ["type": "integer", "minimum": 1, "maximum": .integer(Int64(PageRequest.maximumLimit)), "default": 100]),
    .query(
      "cursor", "Where to go on: what `next` of the page before said.",
      ["type": "string", "pattern": "^[0-9]{1,15}_[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$"]),
  ]
  private static let list = Answer.json(
    200, "A page.", ["$ref": "#/components/schemas/Page"], fields: ["Link"])

  private static func filter(_ name: String, _ text: String, _ schema: JSONValue) -> Parameter {
    .query(name, text, schema)
  }
}
