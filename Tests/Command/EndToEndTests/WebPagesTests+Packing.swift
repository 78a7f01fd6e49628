import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// Files and folders that the script of a page packs before it uploads them.
extension WebPagesTests {
  /// Returns a folder with files whose names have umlauts, upper case, a device's name, and more than 180 bytes.
  private func notes() throws -> URL {
    for (index, name) in [
      "News/Feed.json", "News/größe 😀.txt", "con", ".settings", "empty/.DS_Store",
      "\(String(repeating: "long ", count: 40)).json",
    ].enumerated() {
      try folder.write(Data("{\"value\": \(index)}".utf8), to: "notes/\(name)")
    }
    return folder.file("notes")
  }

  /// What a manifest says of its recordings.
  private func recordings(_ manifest: Manifest) -> [[String]] {
    manifest.recordings.map { [$0.identifier, $0.path, "\($0.size)", "\($0.sha256)"] }.sorted {
      $0[0].utf8.lexicographicallyPrecedes($1[0].utf8)
    }
  }

  private func newest(_ server: TestServer, token: String? = nil) async throws -> SnapshotRecord {
    let outcome = try await Product.run(
      ["list", "--report", "BUG-9", "--json", "--server", server.url.absoluteString],
      environment: token.map { ["SNAPSHOT_TOKEN": $0] } ?? [:])
    return try #require(
      try SnapshotJSON.decode([SnapshotRecord].self, from: Data(outcome.text.utf8)).first)
  }

  private func fetched(_ id: SnapshotID, _ server: TestServer) async throws -> Manifest {
    let copy = folder.file("\(id).zip")
    let outcome = try await Product.run([
      "fetch", "\(id)", "--output", copy.path, "--server", server.url.absoluteString,
    ])
    try #require(outcome.status == 0, "\(outcome.errors)")
    return try SnapshotBundle.validate(zip: copy, depth: .full)
  }

  @Test(arguments: [true, false])
  func `a folder that is dropped or chosen becomes what the command packs`(isDropped: Bool) async throws {
    try await withBrowser { server, browser in
      let notes = try notes()
      try await browser.open(url("/reports/BUG-9", on: server))
      try await browser.type("It broke", into: "#upload-note")
      if isDropped {
        try await drop(notes, on: browser)
      } else {
        try await browser.type(notes.path, into: "#folder")
      }
      try await waitForSnapshot(browser)
      #expect(try await browser.text(".said-here").contains("It broke"))
      let manifest = try await fetched(try await newest(server).id, server)
      #expect(manifest.application.identifier == "notes")
      let packed = try SnapshotBundle.pack(
        plainFolder: notes, application: manifest.application, device: manifest.device,
        to: folder.file("packed.zip")
      ).manifest
      #expect(recordings(manifest) == recordings(packed))
      #expect(manifest.recordings.count == 5)
    }
  }

  @Test func `several files, with a folder or without, and one file that is no bundle, become recordings`()
    async throws
  {
    try await withBrowser { server, browser in
      let notes = try notes()
      let (bundle, _) = try await Sample.bundle(in: folder)
      let text = try folder.write(Data("text".utf8), to: "readme.txt")
      try await browser.open(url("/reports/BUG-9", on: server))
      try await drop(text, on: browser)
      try await waitForSnapshot(browser)
      #expect(try await fetched(newest(server).id, server).recordings.map(\.identifier) == ["readme.txt"])

      try await browser.open(url("/reports/BUG-9", on: server))
      try await browser.type("\(text.path)\n\(bundle.path)", into: "#bundle")
      try await browser.click(".upload button.main")
      try await waitForSnapshot(browser)
      #expect(
        Set(try await fetched(newest(server).id, server).recordings.map(\.identifier))
          == ["readme.txt", bundle.lastPathComponent])

      try await browser.open(url("/reports/BUG-9", on: server))
      try await drop(text, notes, on: browser)
      try await waitForSnapshot(browser)
      let both = try await fetched(newest(server).id, server).recordings.map(\.identifier)
      #expect(both.count == 6)
      #expect(Set(both).isSuperset(of: ["readme.txt", "notes/con", "notes/News/Feed.json"]))
    }
  }

  @Test func `the folder of a snapshot is uploaded as that snapshot`() async throws {
    try await withBrowser { server, browser in
      let (bundle, id) = try await Sample.bundle(in: folder)
      let manifest = try SnapshotBundle.unpack(zip: bundle, into: folder.file("unpacked"))
      try await browser.open(url("/reports/BUG-9", on: server))
      try await drop(folder.file("unpacked"), on: browser)
      try await waitForSnapshot(browser)
      #expect(try await browser.url.contains("/snapshots/\(id)"))
      #expect(recordings(try await fetched(id, server)) == recordings(manifest))
    }
  }

  @Test func `the upload of a folder continues after the page is loaded again`() async throws {
    try await withBrowser { server, browser in
      let notes = try notes()
      try await browser.addScript(Self.slowly)
      try await browser.open(url("/reports/BUG-9", on: server))
      try await drop(notes, on: browser)
      try await browser.wait(for: "window.release")
      try await browser.open(url("/reports/BUG-9", on: server))
      try await drop(notes, on: browser)
      try await waitForSnapshot(browser)
      #expect(try await browser.evaluate("sessionStorage.offsets.trim()") == "0 300 300")
      #expect(try await browser.evaluate("localStorage.length") == "0")
    }
  }

  @Test func `a customer drops a folder on the page of a link`() async throws {
    try await withBrowser { server, browser in
      let (url, admin) = try await link(on: server)
      try await browser.open(url)
      try await drop(notes(), on: browser)
      try await browser.wait(for: "location.search.includes('done=attached')")
      #expect(try await newest(server, token: admin).recordingCount == 5)
    }
  }

  @Test func `what the browser can't pack is named`() async throws {
    try await withBrowser { server, browser in
      let notes = try notes()
      try folder.write(Data("{}".utf8), to: "News 1.xcappdata/AppData/Documents/feed.json")
      try folder.write(Data(), to: "nothing/.DS_Store")
      try folder.write(Data("{}".utf8), to: "snapshot/manifest.json")
      try folder.write(Data("{}".utf8), to: "snapshot/app-data/feed.json")
      try await browser.open(url("/reports/BUG-9", on: server))
      for (name, words) in [
        ("News 1.xcappdata", "News 1.xcappdata is an app’s container. Pack it with"),
        ("nothing", "no files"), ("snapshot", "contains an app’s container"),
      ] {
        try await drop(folder.file(name), on: browser)
        try await browser.wait(for: Self.status + ".includes('\(words)')")
        #expect(try await browser.has("[data-status].mistake"))
      }
      _ = try await browser.evaluate("packing.mostBytesOfFile = 10")
      try await drop(notes, on: browser)
      try await browser.wait(for: Self.status + ".includes('has more than')")
      _ = try await browser.evaluate("packing.mostFiles = 4")
      try await drop(notes, on: browser)
      try await browser.wait(for: Self.status + ".includes('more than 4 files')")
      // As on a page that came without TLS from another machine.
      _ = try await browser.evaluate(
        "void Object.defineProperty(Crypto.prototype, 'subtle', {value: undefined})")
      try await drop(folder.write(Data("text".utf8), to: "readme.txt"), on: browser)
      try await browser.wait(for: Self.status + ".includes('opened by https')")
    }
  }

  @Test func `the script names recordings as the specification does`() async throws {
    try await withBrowser { server, browser in
      let vectors = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Snapshots/BundleFormat/Vectors/names.json")
      let names = String(decoding: try Data(contentsOf: vectors), as: UTF8.self)
      try await browser.open(url("/reports/BUG-9", on: server))
      let differing = try await browser.result(
        ofAsync: """
          async (done) => {
            const differing = [];
            for (const [identifier, name] of Object.entries(\(names))) {
              if (await packing.recordingName(identifier) !== name) differing.push(identifier);
            }
            done(differing.join());
          }
          """)
      #expect(differing == "")
    }
  }
}
