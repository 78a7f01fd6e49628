#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The parser in the environment variable `FUZZED`.
private let fuzzed: FuzzedParser = {
  let name = getenv("FUZZED").map { String(cString: $0) } ?? ""
  guard let parser = FuzzedParser(rawValue: name) else {
    let names = FuzzedParser.allCases.map(\.rawValue).joined(separator: ", ")
    report("FUZZED must be one of: \(names)")
    exit(64)
  }
  return parser
}()

/// libFuzzer calls this with each input. It stores an input at which the process crashes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  do {
    try fuzzed.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
  } catch {
    report("broken: \(error)")
    abort()
  }
  return 0
}

private func report(_ words: String) {
  let line = Array((words + "\n").utf8)
  _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
