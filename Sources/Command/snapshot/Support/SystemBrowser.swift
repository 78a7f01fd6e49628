import Foundation

/// The browser that the system opens addresses with.
enum SystemBrowser {
  #if os(macOS)
    static let opener = "open"
  #else
    static let opener = "xdg-open"
  #endif

  /// Opens `address`. Returns when the opener has ended, which some browsers delay until they are closed.
  static func open(_ address: String) async throws(CommandFailure) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [opener, address]
    // The result of the command is the address alone.
    process.standardOutput = FileHandle.standardError
    let status: Result<Int32, any Error> = await withCheckedContinuation { continuation in
      process.terminationHandler = { continuation.resume(returning: .success($0.terminationStatus)) }
      do { try process.run() } catch { continuation.resume(returning: .failure(error)) }
    }
    switch status {
    case .success(0): return
    case .success:
      throw CommandFailure(
        "No browser was opened: \(opener) failed or is not installed. Open the printed address yourself.")
    case .failure(let error):
      throw CommandFailure("No browser was opened, because \(opener) can't be started: \(error)")
    }
  }
}
