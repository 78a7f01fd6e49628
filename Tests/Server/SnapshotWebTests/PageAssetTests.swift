@testable import SnapshotWeb
import Testing

struct PageAssetTests {
  @Test func `every asset is found by its name, and by no other`() {
    for asset in PageAsset.all { #expect(PageAsset.named(asset.name) == asset) }
    #expect(PageAsset.named("pages.css") == nil)
    #expect(PageAsset.named("") == nil)
  }

  @Test func `every page asks for assets that there are`() throws {
    for (name, bytes) in try SamplePages.usual.all() {
      let html = String(decoding: bytes, as: UTF8.self)
      for asset in PageAsset.all {
        let isNeeded = ![.packScript, .uploadScript].contains(asset) || ["report", "attach"].contains(name)
        #expect(html.contains("\"/assets/\(asset.name)\"") == isNeeded, "\(name)")
      }
    }
  }

  @Test func `the style sheet fetches nothing`() {
    let text = String(decoding: PageAsset.stylesheet.bytes, as: UTF8.self)
    #expect(!text.contains("url(") && !text.contains("@import"))
  }
}
