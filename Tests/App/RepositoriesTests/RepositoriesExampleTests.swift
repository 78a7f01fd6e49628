import Foundation
import Repositories
import TestSupport
import Testing

// example: Models begin
struct Profile: Codable, Sendable {
  var displayName = ""
  var email: String?
}

struct Booking: Codable, Sendable, Identifiable {
  let id: UUID
  var nights: Int
}
// example: Models end

/// Runs the article's examples as they are printed.
@Suite struct RepositoriesExampleTests {
  @Test func `the worked example works`() async throws {
    let temporary = try TemporaryFolder()
    let (support, preferences) = (temporary.file("support"), temporary.file("preferences"))
    let events = EventLog()
    let log = { @Sendable (event: RepositoryEvent) in events.record(event) }

    // example: Declare begin
    let profile = ValueRepository(
      Profile(), storage: FileStorage(file: support.appending(path: "profile.json")))
    let drafts = CollectionRepository<Booking>(storage: InMemoryStorage())
    let bookings = CollectionRepository<Booking>(
      storage: InMemoryStorageWithFilePersistence(
        file: support.appending(path: "bookings.json"), onEvent: log),
      validators: [.each(.at("nights", \.nights, "date list has negative length") { $0 >= 0 })])
    // example: Declare end

    // example: Use begin
    try profile.update { copy in copy.displayName = "Ada" }

    let booking = Booking(id: UUID(), nights: 3)
    try bookings.insert(booking)
    try bookings.update(booking.id) { copy in copy.nights += 1 }

    for await all in bookings.values {  // the current value first, then every change
      print("\(all.count) bookings")
      break
    }
    try await bookings.flush()  // when the app goes to the background
    // example: Use end

    #expect(profile.value.displayName == "Ada")
    #expect(drafts.count == 0)
    #expect(bookings.find(booking.id)?.nights == 4)

    var report = Data()
    // example: Validate begin
    do {
      try bookings.update(booking.id, action: "shorten the stay") { copy in copy.nights -= 5 }
    } catch let error as ValidationError {
      print(error)  // ‘shorten the stay’ was refused: [0].nights: date list has negative length
      report = error.makeSnapshot()  // the rejected value, for the bug report
    }
    // example: Validate end
    #expect(String(decoding: report, as: UTF8.self).contains(#""nights" : -1"#))
    #expect(bookings.find(booking.id)?.nights == 4)

    try temporary.write(
      Data(#"{"schemaVersion":1,"value":{"name":"Ada"}}"#.utf8), to: "support/old-profile.json")
    let file = support.appending(path: "old-profile.json")
    // example: Migrate begin
    let migrations: Migrations = [
      .rename("name", to: "fullName"),  // 1 → 2
      .rename("fullName", to: "displayName"),  // 2 → 3
      .step("no empty address") { tree in  // 3 → 4
        if tree["email"] == "" { tree["email"] = nil }
      },
    ]
    let migrated = ValueRepository(Profile(), storage: FileStorage(file: file, migrations: migrations))
    // example: Migrate end
    #expect(migrated.value.displayName == "Ada")

    // example: Rollback begin
    let kept = CollectionRepository<Booking>(
      storage: FileStorage(file: support.appending(path: "kept.json")) { event in
        log(event)
      } onRollback: { conflict in
        conflict.mergedByID()
      })
    // example: Rollback end
    #expect(kept.count == 0)

    try temporary.write(Data(count: 4096), to: "support/Model.sqlite")
    // example: Clean begin
    let cleaner = try FormerDatabaseCleaner(
      folder: support, patterns: FormerDatabaseCleaner.coreData("Model"))
    print(cleaner.clean())  // removed Model.sqlite: 4096 bytes …

    let critical = try CriticalValues(
      copies: support.appending(path: "critical"), preferences.appending(path: "critical"))
    if critical["userID"] == nil { try critical.set(UUID().uuidString, for: "userID") }
    // example: Clean end
    #expect(cleaner.find().isEmpty)
    #expect(critical["userID"] != nil)
    #expect(events.all.isEmpty)
  }

  @Test(arguments: ["Models", "Declare", "Use", "Validate", "Migrate", "Rollback", "Clean"])
  func `the article contains exactly these lines`(marker: String) throws {
    try DocumentedExample.check(
      article: "Sources/App/Repositories/Repositories.docc/Repositories.md", code: #filePath, marker: marker)
  }

  @Test func `the article contains exactly the declarations of the classes`() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent()
    try DocumentedExample.check(
      article: "Sources/App/Repositories/Repositories.docc/Repositories.md",
      code: tests.appending(path: "ArticleDeclarations.swift").path, marker: "Classes")
  }
}
