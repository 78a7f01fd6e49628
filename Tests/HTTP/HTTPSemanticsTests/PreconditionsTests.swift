import HTTPSemantics
import HTTPTypes
import Testing

@Suite struct PreconditionsTests {
  typealias Row = (method: HTTPRequest.Method, fields: HTTPFields, verdict: Preconditions.Verdict)

  private static let before = "Sun, 06 Nov 1994 08:49:36 GMT"
  private static let at = "Sun, 06 Nov 1994 08:49:37 GMT"
  private static let after = "Sun, 06 Nov 1994 08:49:38 GMT"
  private static let current = Preconditions.Current(
    entityTag: .strong("now"), lastModified: HTTPDate(secondsSince1970: 784_111_777))

  @Test(
    arguments: [
      (.get, [:], .proceed),
      (.get, [.ifMatch: "\"now\""], .proceed),
      (.get, [.ifMatch: "\"old\", \"now\""], .proceed),
      (.get, [.ifMatch: "*"], .proceed),
      (.get, [.ifMatch: "\"old\""], .failed),
      (.get, [.ifMatch: "W/\"now\""], .failed),
      (.put, [.ifMatch: "\"old\""], .failed),
      (.put, [.ifMatch: "now"], .failed),
      (.get, [.ifUnmodifiedSince: before], .failed),
      (.get, [.ifUnmodifiedSince: at], .proceed),
      (.put, [.ifUnmodifiedSince: after], .proceed),
      (.get, [.ifUnmodifiedSince: "yesterday"], .proceed),
      (.get, [.ifMatch: "\"now\"", .ifUnmodifiedSince: before], .proceed),
      (.get, [.ifNoneMatch: "\"now\""], .notModified),
      (.head, [.ifNoneMatch: "\"now\""], .notModified),
      (.get, [.ifNoneMatch: "W/\"now\""], .notModified),
      (.get, [.ifNoneMatch: "\"a\", W/\"now\""], .notModified),
      (.get, [.ifNoneMatch: "*"], .notModified),
      (.get, [.ifNoneMatch: "\"old\""], .proceed),
      (.get, [.ifNoneMatch: "now"], .proceed),
      (.put, [.ifNoneMatch: "\"now\""], .failed),
      (.put, [.ifNoneMatch: "*"], .failed),
      (.delete, [.ifNoneMatch: "*"], .failed),
      (.get, [.ifModifiedSince: before], .proceed),
      (.get, [.ifModifiedSince: at], .notModified),
      (.head, [.ifModifiedSince: after], .notModified),
      (.get, [.ifModifiedSince: "never"], .proceed),
      (.put, [.ifModifiedSince: after], .proceed),
      (.get, [.ifNoneMatch: "\"old\"", .ifModifiedSince: after], .proceed),
      (.get, [.ifNoneMatch: "\"now\"", .ifModifiedSince: before], .notModified),
      (.get, [.ifMatch: "\"old\"", .ifNoneMatch: "\"now\""], .failed),
      (.get, [.ifMatch: "\"now\"", .ifNoneMatch: "\"now\""], .notModified),
      (.get, [.ifUnmodifiedSince: before, .ifNoneMatch: "\"now\""], .failed),
    ] as [Row])
  func `conditions on existing content are evaluated in order`(row: Row) {
    #expect(Preconditions(row.fields).verdict(row.method, on: Self.current) == row.verdict)
  }

  @Test(
    arguments: [
      (.put, [.ifNoneMatch: "*"], .proceed),
      (.put, [.ifNoneMatch: "\"now\""], .proceed),
      (.put, [.ifMatch: "*"], .failed),
      (.put, [.ifMatch: "\"now\""], .failed),
      (.get, [.ifModifiedSince: after], .proceed),
      (.get, [.ifUnmodifiedSince: before], .proceed),
    ] as [Row])
  func `conditions on missing content are evaluated`(row: Row) {
    #expect(Preconditions(row.fields).verdict(row.method, on: nil) == row.verdict)
  }

  @Test func `without an entity tag, no tag matches`() {
    let untagged = Preconditions.Current()
    #expect(Preconditions([.ifMatch: "\"a\""]).verdict(.get, on: untagged) == .failed)
    #expect(Preconditions([.ifMatch: "*"]).verdict(.get, on: untagged) == .proceed)
    #expect(Preconditions([.ifNoneMatch: "\"a\""]).verdict(.get, on: untagged) == .proceed)
    #expect(Preconditions([.ifModifiedSince: Self.after]).verdict(.get, on: untagged) == .proceed)
  }

  @Test func `several fields with one name are one list`() {
    var fields: HTTPFields = [:]
    fields[values: .ifNoneMatch] = ["\"a\"", "\"now\""]
    #expect(Preconditions(fields).verdict(.get, on: Self.current) == .notModified)
  }

  @Test func `only an asterisk means create-only`() {
    #expect(Preconditions([.ifNoneMatch: "*"]).isCreateOnly)
    #expect(!Preconditions([.ifNoneMatch: "\"*\""]).isCreateOnly)
    #expect(!Preconditions([:]).isCreateOnly)
  }

  @Test(arguments: [
    (nil, true), ("\"now\"", true), ("\"old\"", false), ("W/\"now\"", false), ("now", false), (at, false),
    ("*", false),
  ])
  func `a range counts only for exactly these bytes`(ifRange: String?, allowed: Bool) {
    var fields: HTTPFields = [:]
    fields[.ifRange] = ifRange
    #expect(Preconditions(fields).allowsRange(of: .strong("now")) == allowed)
    #expect(Preconditions(fields).allowsRange(of: nil) == (ifRange == nil))
    #expect(Preconditions(fields).allowsRange(of: EntityTag("W/\"now\"")) == (ifRange == nil))
  }
}
