import DataSnapshots
import Testing

@Suite struct PreloadConditionTests {
  private typealias Launch = PreloadCondition.Launch

  @Test(
    arguments: [
      ("1", true), ("YES", true), ("anything", true), ("", false), ("0", false), ("NO", false), ("no", false),
      ("false", false), ("False", false), (nil, false),
    ] as [(String?, Bool)])
  func `a variable is true unless its value means no`(value: String?, holds: Bool) {
    let launch = Launch(environment: value.map { ["NAME": $0, "OTHER": "1"] } ?? ["OTHER": "1"])
    #expect(PreloadCondition.environment("NAME").holds(for: launch) == holds)
    let named = Launch(environment: value.map { ["FASTLANE_SNAPSHOT": $0] } ?? [:])
    #expect(PreloadCondition.fastlaneSnapshot.holds(for: named) == holds)
  }

  @Test func `a variable can be required to have one value`() {
    let condition = PreloadCondition.environment("NAME", is: "0")
    #expect(condition.holds(for: Launch(environment: ["NAME": "0"])))
    #expect(!condition.holds(for: Launch(environment: ["NAME": "1"])))
    #expect(!condition.holds(for: Launch()))
  }

  @Test(
    arguments: [
      (["app", "-FASTLANE_SNAPSHOT", "YES", "-ui_testing"], true),
      (["app", "-FASTLANE_SNAPSHOT", "NO"], false),
      (["app", "-FASTLANE_SNAPSHOT"], false), (["-FASTLANE_SNAPSHOT", "YES"], false),
      (["app", "FASTLANE_SNAPSHOT", "YES"], false), ([], false),
    ] as [([String], Bool)])
  func `the arguments of fastlane's helper are recognized`(arguments: [String], holds: Bool) {
    #expect(PreloadCondition.fastlaneSnapshot.holds(for: Launch(arguments: arguments)) == holds)
  }

  @Test func `arguments are tested, but not the program's name`() {
    let condition = PreloadCondition.argument("-preload")
    #expect(condition.holds(for: Launch(arguments: ["app", "-x", "-preload"])))
    #expect(!condition.holds(for: Launch(arguments: ["-preload", "-preload=1"])))
    #expect(!condition.holds(for: Launch()))
  }

  @Test func `a debug build is recognized`() {
    #expect(PreloadCondition.debugBuild.holds(for: Launch(isDebugBuild: true)))
    #expect(!PreloadCondition.debugBuild.holds(for: Launch(isDebugBuild: false)))
  }

  @Test(arguments: [(false, false), (false, true), (true, false), (true, true)])
  func `conditions are combined like Booleans`(first: Bool, second: Bool) {
    let (a, b) = (PreloadCondition("a") { _ in first }, PreloadCondition("b") { _ in second })
    let launch = Launch()
    #expect((a && b).holds(for: launch) == (first && second))
    #expect((a || b).holds(for: launch) == (first || second))
    #expect((!a).holds(for: launch) == !first)
    #expect((a && !(b || a)).description == "(a and not (b or a))")
    #expect(PreloadCondition.always.holds(for: launch))
  }

  @Test func `the condition is tested for the running process by default`() {
    #expect(!PreloadCondition.argument("-an-argument-that-nobody-gives").holds())
    #expect(PreloadCondition("has a name") { $0.arguments.first != nil }.holds())
  }
}
