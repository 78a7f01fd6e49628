#if os(Linux)
  import Foundation
  import TestSupport
  import Testing

  /// The code in an `#if` that only Apple's platforms compile.
  @Suite(
    .enabled(if: Tool.find("python3") != nil, "python3 isn't installed"),
    .disabled(if: Sanitizer.isActive, "it only compiles"))
  struct AppleBranchTests {
    @Test func `branches for Apple's platforms compile, and a misspelt name in one is an error`() async throws
    {
      let run = try await Tool.run(
        "python3",
        [
          PackageFolder.url().appending(path: "Tests/AppleBranchTests/run").path, "--mistakes",
          "--modules", Tool.products.appending(path: "Modules").path,
        ])
      #expect(run.status == 0, "\(run.text)\(run.errors)")
    }
  }
#endif
