import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import Testing

@Suite struct SearchTests {
  private let api = TestAPI()

  private struct List: Decodable {
    var snapshots: [SnapshotRecord]
    var next: String?
    var total: Int?
    var totalIsExact: Bool?
  }

  /// Attaches a bundle of each version and returns their ids.
  private func attach(_ versions: [String]) async throws -> [SnapshotID] {
    var ids: [SnapshotID] = []
    for version in versions {
      let bundle = try ZippedSample { $0.application.version = version }
      let answer = try await api.uploadForm([
        ("Content-Disposition: form-data; name=snapshot; filename=a", bundle.bytes),
        ("Content-Disposition: form-data; name=note", Array("version \(version) crashed".utf8)),
      ])
      #expect(answer.status == 201)
      ids.append(try answer.decode(SnapshotRecord.self).id)
    }
    return ids
  }

  @Test(arguments: [
    ("version=3.1", [0, 1]), ("minVersion=3.2&maxVersion=3", [2]), ("minVersion=4", [3]),
    ("text=crashed%203", [0, 1, 2]),
    ("application=com.example.news&module=News&identifier=feed&device=iOS+26.1", [0, 1, 2, 3]),
    ("identifier=fee", []), ("report=BUG-1", [0, 1, 2, 3]), ("report=BUG-2", []),
    ("after=2020-01-01", [0, 1, 2, 3]),
    ("before=2020-01-01T00:00:00.000Z", []),
    ("before=2100-01-01T00:00:00%2B02:00&text=CRASHED", [0, 1, 2, 3]),
  ])
  func `a query finds the matching snapshots`(query: String, indexes: [Int]) async throws {
    let ids = try await attach(["3.1.4", "3.1-beta", "3.10", "4"])
    let answer = try await api.send(.get, "/v1/snapshots", query: query + "&total=true")
    #expect(answer.status == 200, "\(String(describing: answer.problem))")
    let list = try answer.decode(List.self)
    #expect(Set(list.snapshots.map(\.id)) == Set(indexes.map { ids[$0] }))
    #expect(list.total == indexes.count)
    #expect(list.totalIsExact == true)
    #expect(!answer.text.contains("\"identifiers\""))
  }

  @Test func `the next page keeps every filter`() async throws {
    _ = try await attach(["1", "2", "3"])
    let query = "text=a%26b%20crashed&device=iOS%2026.1&after=2020-01-01T00:00:00%2B00:00&limit=1"
    let empty = try await api.send(.get, "/v1/snapshots", query: query)
    #expect(empty.fields[.link] == nil)
    var next: String? =
      "minVersion=1&text=CRASHED%20version&device=iOS+26.1&after=2020-01-01T00:00:00%2B00:00&limit=1"
    var seen: Set<SnapshotID> = []
    while let query = next {
      let answer = try await api.send(.get, "/v1/snapshots", query: query)
      #expect(answer.status == 200, "\(String(describing: answer.problem))")
      let list = try answer.decode(List.self)
      #expect(list.snapshots.count == 1)
      seen.formUnion(list.snapshots.map(\.id))
      guard let link = answer.fields[.link] else { break }
      #expect(link.hasPrefix("</v1/snapshots?") && link.hasSuffix(">; rel=\"next\""))
      next = link.split(separator: "?").last?.split(separator: ">").first.map(String.init)
      let pairs = Set((next ?? "").split(separator: "&").map(String.init))
      #expect(
        pairs.isSuperset(of: [
          "minVersion=1", "text=CRASHED%20version", "device=iOS%2026.1", "limit=1",
          "after=\(PercentCoding.encode("2020-01-01T00:00:00+00:00"))",
        ]))
    }
    #expect(seen.count == 3)
  }

  @Test(arguments: [
    "aplication=x", "report=%20", "report=", "text=", "version=1&minVersion=1", "version=1&maxVersion=1",
    "after=yesterday",
    "after=2020-01-01T00:00:00+02:00", "before=2020-13-01", "total=1", "module=a&module=b", "device=%00&x=1",
  ])
  func `an invalid query is refused`(query: String) async throws {
    let answer = try await api.send(.get, "/v1/snapshots", query: query)
    #expect(answer.status == 400)
    #expect(answer.problem?.detail.isEmpty == false)
  }

  @Test(arguments: [(1023, 200), (1024, 200), (1025, 400)])
  func `a filter has a limit`(length: (bytes: Int, status: Int)) async throws {
    let text = String(repeating: "x", count: length.bytes)
    #expect(try await api.send(.get, "/v1/snapshots", query: "text=\(text)").status == length.status)
    #expect(try await api.send(.get, "/v1/snapshots", query: "module=\(text)").status == length.status)
  }

  @Test func `a report in the path excludes one in the query`() async throws {
    #expect(try await api.send(.get, "/v1/reports/BUG-1/snapshots", query: "report=BUG-1").status == 400)
    #expect(try await api.send(.get, "/v1/reports/BUG-1/snapshots", query: "text=x").status == 200)
  }
}
