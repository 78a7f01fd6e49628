import Foundation
import TestSupport
import Testing

/// Apple's privacy manifest for apps: it names every API with a required reason that an app's part of the package uses.
@Suite struct PrivacyManifestTests {
  private static let root = PackageFolder.url()
  private static let file = root.appending(path: "Sources/Base/SystemIO/PrivacyInfo.xcprivacy")

  /// Apple's categories, with the names of their APIs as they are written in Swift.
  private static let categories: [String: String] = [
    "FileTimestamp": #"\b[fl]?stat\(|\bfstatat\(|\bf?getattrlist(at|bulk)?\(|(creation|odification)Date"#,
    "DiskSpace": #"\bf?stat(v)?fs\(|volume(Available|Total)Capacity|systemFreeSize|systemSize"#,
    "SystemBootTime": #"systemUptime|mach_absolute_time"#,
    "ActiveKeyboards": #"activeInputModes"#,
    "UserDefaults": #"UserDefaults|AppStorage"#,
  ]

  @Test func `another implementation of property lists reads it`() async throws {
    let script = "import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))"
    let outcome = try await Tool.run("python3", ["-c", script, Self.file.path])
    try #require(outcome.status == 0, "\(outcome.errors)")
    let manifest = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.text.utf8)) as? [String: Any])
    #expect(manifest["NSPrivacyTracking"] as? Bool == false)
    #expect((manifest["NSPrivacyTrackingDomains"] as? [Any])?.isEmpty == true)
    let collected = try #require(manifest["NSPrivacyCollectedDataTypes"] as? [[String: Any]])
    let prefix = "NSPrivacyCollectedDataType"
    #expect(
      collected.map { $0[prefix] as? String }
        == ["OtherUserContent", "CustomerSupport", "OtherDiagnosticData"].map { prefix + $0 })
    for entry in collected {
      #expect(entry[prefix + "Linked"] as? Bool == true && entry[prefix + "Tracking"] as? Bool == false)
      #expect(entry[prefix + "Purposes"] as? [String] == [prefix + "PurposeAppFunctionality"])
      #expect(entry.count == 4)
    }
    let used = try #require(manifest["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
    let reasons = used.map { ($0["NSPrivacyAccessedAPIType"], $0["NSPrivacyAccessedAPITypeReasons"]) }
    #expect(reasons.map { $0.0 as? String } == Self.names(["FileTimestamp", "DiskSpace"]))
    #expect(reasons.map { $0.1 as? [String] } == [["C617.1"], ["E174.1"]])
  }

  @Test func `the article for apps shows the file`() throws {
    let article = Self.root.appending(path: "Sources/App/SnapshotClient/SnapshotClient.docc/FromAnIPhone.md")
    let text = try String(contentsOf: article, encoding: .utf8)
    #expect(try text.contains("```xml\n" + String(contentsOf: Self.file, encoding: .utf8) + "```\n"))
  }

  @Test func `the sources of an app's targets use the APIs of its categories, and of no other`() throws {
    var used: Set<String> = []
    for folder in ["Base", "Snapshots", "HTTP", "App"] {
      let sources = Self.root.appending(path: "Sources/\(folder)")
      for path in try FileManager.default.subpathsOfDirectory(atPath: sources.path)
      where path.hasSuffix(".swift") {
        let text = try String(contentsOf: sources.appending(path: path), encoding: .utf8)
        for (category, pattern) in Self.categories where try text.contains(Regex(pattern)) {
          used.insert(category)
        }
      }
    }
    #expect(used == ["FileTimestamp", "DiskSpace"])
  }

  private static func names(_ categories: [String]) -> [String] {
    categories.map { "NSPrivacyAccessedAPICategory" + $0 }
  }
}
