import HTTPTypes
import SnapshotFormat

extension Operation {
  /// The calls that look after what is kept.
  static let maintenance: [Operation] = [
    Operation(
      "planExpirations", .get, "/v1/expirations", "Tells what would go by itself now, and why.",
      detail: "Changes nothing. Follow `next`, or the link of the field `Link`, as it is.",
      parameters: [limit, .query("cursor", "Where to go on: what `next` of the page before said.", cursor)],
      answers: [.json(200, "A page.", ["$ref": "#/components/schemas/ExpirationPlan"], fields: ["Link"])],
      problems: [.callerLimited]),
    Operation(
      "expire", .post, "/v1/expirations", "Lets go what is to go by itself.",
      detail: "Where that is more than a fifth of all snapshots, and at least 100, it needs `confirm=true`.",
      parameters: [
        limit,
        .query(
          "confirm", "Whether more than a fifth of all snapshots may go.",
          ["type": "boolean", "default": false]),
      ],
      answers: [.json(200, "What went.", ["$ref": "#/components/schemas/ExpirationOutcome"])],
      problems: [.callerLimited, .confirmationNeeded]),
    Operation(
      "readScrub", .get, "/v1/scrub", "Tells how far the look at every bundle has come.",
      answers: [.json(200, "What was found.", ["$ref": "#/components/schemas/ScrubReport"])],
      problems: [.callerLimited]),
    Operation(
      "scrub", .post, "/v1/scrub", "Begins to look at every bundle, unless that is being done.",
      answers: [
        .json(202, "It goes on.", ["$ref": "#/components/schemas/ScrubReport"], fields: ["Location"])
      ], problems: [.callerLimited]),
  ]

  private static let limit = Parameter.query(
    "limit", "The most snapshots that the answer names.",
    [
      "type": "integer", "minimum": 1, "maximum": .integer(Int64(MaintenanceRoutes.pageLength)),
      "default": .integer(Int64(MaintenanceRoutes.pageLength)),
    ])
  private static let cursor: JSONValue = ["type": "string", "pattern": "^[0-9T:.-]+Z_[0-9a-f-]{36}$"]
}
