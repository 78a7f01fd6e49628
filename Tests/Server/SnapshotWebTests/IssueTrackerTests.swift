import SnapshotFormat
import Testing

@testable import SnapshotWeb

struct IssueTrackerTests {
  @Test(arguments: [
    ("https://tracker.example/browse/{report}", "https://tracker.example/browse/proj%2Fissue%239"),
    (
      "HTTP://tracker.example:8080?q={report}&r={report}",
      "HTTP://tracker.example:8080?q=proj%2Fissue%239&r=proj%2Fissue%239"
    ),
    ("https://tracker.example/#{report}", "https://tracker.example/#proj%2Fissue%239"),
  ])
  func `the id of a report is percent-encoded in its address`(template: String, address: String) throws {
    var tracker = IssueTracker()
    #expect(try tracker.address(of: ReportID(validating: "a")) == nil)
    tracker.report = AddressTemplate(template, [.report], required: .report)
    #expect(try tracker.address(of: ReportID(validating: "proj/issue#9")) == address)
  }

  @Test(arguments: [
    "", "{report}", "tracker.example/{report}", "ftp://tracker.example/{report}", "javascript://a/{report}",
    "https://{report}.example/", "https://tracker.example{report}", "https:///{report}",
    "https://:80/{report}",
    "https://tracker.example/", "https://tracker.example/{note}/{report}", "https://tracker.example/{REPORT}",
    "https://tracker.example/{report", "https://tracker.example/report}",
    "https://tracker.example/{{report}}",
    "https://user@tracker.example/{report}", "https://tracker.example/ {report}",
    "https://tracker.example/ü{report}",
    "https://tracker.example/\"{report}", "https://tracker.example/<{report}>",
    "https://tracker.example\\{report}",
  ])
  func `any other template is refused`(template: String) {
    #expect(AddressTemplate(template, [.report], required: .report) == nil)
  }

  @Test func `a template is accepted up to its limit`() {
    let start = "https://tracker.example/{report}"
    let room = AddressTemplate.maximumLength - start.utf8.count
    #expect(AddressTemplate(start + String(repeating: "a", count: room), [.report]) != nil)
    #expect(AddressTemplate(start + String(repeating: "a", count: room + 1), [.report]) == nil)
  }

  @Test func `the form for a new issue is filled in, and a long note is cut`() throws {
    var tracker = IssueTracker()
    tracker.newIssue = AddressTemplate(
      "https://tracker.example/new?t={application}+{version}&s={snapshot}&r={report}&n={note}",
      AddressTemplate.Placeholder.allCases)
    var record = try SamplePages.usual.record()
    record.metadata = ["note": "50 % & {report}\n?"]
    #expect(
      tracker.newIssue(about: record)
        == "https://tracker.example/new?t=com.example.news+3.1.0&s=\(record.id)&r=BUG-123&n=50%20%25%20%26%20%7Breport%7D%0A%3F"
    )
    for (count, isCut) in [(1000, false), (1001, true)] {
      record.metadata = ["note": String(repeating: "a", count: count)]
      let address = try #require(tracker.newIssue(about: record))
      #expect(address.hasSuffix("a%E2%80%A6") == isCut)
      #expect(address.utf8.count <= 1200)
    }
    record.metadata = [:]
    #expect(tracker.newIssue(about: record)?.hasSuffix("&n=") == true)
  }

  @Test func `the page of a report links to the tracker`() throws {
    var frame = PageFrame(account: .open)
    let without = String(
      decoding: try PageRenderer().render(try SamplePages.usual.report(), in: frame), as: UTF8.self)
    #expect(!without.contains("Tracker"))
    frame.tracker.report = AddressTemplate("https://tracker.example/{report}?a=1&b=2", [.report])
    let page = String(
      decoding: try PageRenderer().render(try SamplePages.usual.report(), in: frame), as: UTF8.self)
    #expect(
      page.contains("<a class=\"button\" href=\"https://tracker.example/BUG-123?a=1&amp;b=2\">Tracker</a>"))
  }
}
