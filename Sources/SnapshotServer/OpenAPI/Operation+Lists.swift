import HTTPTypes
import SnapshotFormat
import SnapshotStore

extension Operation {
  /// The calls that list snapshots.
  static let lists: [Operation] = [
    Operation(
      "listSnapshots", .get, "/v1/snapshots", "Lists snapshots, the newest first.", detail: paging,
      parameters: page, answers: [list]),
    Operation(
      "listReport", .get, "/v1/reports/{report}/snapshots", "Lists what is attached to a bug report.",
      detail: paging, parameters: [.report] + page, answers: [list],
      problems: ["malformed-report-id", "outside-limits"]),
  ]

  private static let paging = """
    Follow `next`, or the link of the field `Link`, as it is: the pages hold every snapshot that was there at the \
    beginning and is still there, each once.
    """
  private static let page: [Parameter] = [
    .query(
      "limit", "The most snapshots on the page.",
      ["type": "integer", "minimum": 1, "maximum": .integer(Int64(PageRequest.maximumLimit)), "default": 100]),
    .query(
      "cursor", "Where to go on: what `next` of the page before said.",
      ["type": "string", "pattern": "^[0-9]+_[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$"]),
  ]
  private static let list = Answer.json(
    200, "A page.", ["$ref": "#/components/schemas/Page"], fields: ["Link"])
}
