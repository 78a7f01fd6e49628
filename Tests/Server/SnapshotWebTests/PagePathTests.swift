import SnapshotFormat
@testable import SnapshotWeb
import Testing

struct PagePathTests {
  private let id = SamplePages.usual.id(0)

  @Test func `every page has its address`() throws {
    #expect(PagePath.home().description == "/")
    #expect(PagePath.report(try ReportID(validating: "proj/#9")).description == "/reports/proj%2F%239")
    #expect(
      PagePath.report(try ReportID(validating: "BUG-1"), cursor: "a=").description
        == "/reports/BUG-1?cursor=a%3D")
    #expect(PagePath.snapshot(id).description == "/snapshots/\(id)")
    #expect(PagePath.bundle(id).description == "/snapshots/\(id)/bundle")
    #expect(PagePath.diff(id).description == "/snapshots/\(id)/diff")
    #expect(PagePath.diff(id, with: id).description == "/snapshots/\(id)/diff?with=\(id)")
    #expect(
      PagePath.folder(id, "app-data/a b").description == "/snapshots/\(id)/files.zip?folder=app-data%2Fa%20b")
    #expect(
      PagePath.search(.snapshot(id), find: "width:<0").description
        == "/snapshots/\(id)/search?find=width%3A%3C0")
    #expect(
      PagePath.search(.newest, find: "a", cursor: SearchPosition(id, file: 7)).description
        == "/search?find=a&cursor=\(id)%2F7")
    #expect(
      PagePath.search(.report(try ReportID(validating: "a/b"))).description == "/reports/a%2Fb/search")
    #expect(PagePath.history(id).description == "/snapshots/\(id)/history")
    #expect(PagePath.attach(try ReportID(validating: "a/b")).description == "/reports/a%2Fb/snapshots")
    #expect(PagePath.attachLink("abc").description(after: .attached) == "/attach?link=abc&done=attached")
    #expect(
      PagePath.revokeLink(try ReportID(validating: "a/b"), "1f").description
        == "/reports/a%2Fb/links/1f/revoke")
    #expect(PagePath.uploads.description == "/uploads")
    #expect(PagePath.action(.unpin, id).description == "/snapshots/\(id)/unpin")
    #expect(PagePath.signIn(next: "/reports/a?b").description == "/sign-in?next=%2Freports%2Fa%3Fb")
    #expect(PagePath.webhooks.description == "/webhooks")
    #expect(PagePath.signOut.description == "/sign-out")
    #expect(PagePath.documentation.description == "/docs")
    #expect(PagePath.article("settings").description == "/docs/settings")
    #expect(PagePath.reference.description == "/docs/reference")
  }

  @Test func `a search keeps the order of its fields`() {
    let form = SearchForm([.before: "2026-12-01", .text: "a b&c", .application: "", .report: "#1"])
    #expect(
      PagePath.home(form, cursor: "x").description
        == "/?text=a%20b%26c&report=%231&before=2026-12-01&cursor=x")
  }

  @Test func `a file's path is escaped part by part`() {
    let file = "recordings/news%2ffeed?a=\"b\""
    #expect(
      PagePath.preview(id, file: file).description
        == "/snapshots/\(id)/files/recordings/news%252ffeed%3Fa%3D%22b%22")
    #expect(
      PagePath.raw(id, file: "attachments/a b/ä").description
        == "/snapshots/\(id)/raw/attachments/a%20b/%C3%A4")
  }

  @Test func `a selection says only what is not as usual`() {
    #expect(
      PagePath.snapshot(id, .init(module: "A&B", recordings: 50, files: 0)).description
        == "/snapshots/\(id)?module=A%26B&recordings=50")
  }

  @Test func `what was done is said behind whatever the address has`() {
    #expect(PagePath.snapshot(id).description(after: .pinned) == "/snapshots/\(id)?done=pinned")
    #expect(PagePath.home(SearchForm([.text: "a"])).description(after: .deleted) == "/?text=a&done=deleted")
  }
}
