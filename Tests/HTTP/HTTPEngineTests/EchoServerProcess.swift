#if os(Linux)
  import Foundation
  import HTTPTLS
  import TestSupport

  /// The program `echo-server` in its own process, so that its descriptors and memory can be measured.
  struct EchoServerProcess {
    let port: UInt16
    private let program: RunningProgram
    private let root: TemporaryFolder

    /// Starts the program with a folder that contains `small` (1 KiB) and `large` (64 MiB, sparse).
    ///
    /// - Parameter descriptors: the limit of open descriptors; `nil` for the limit of this process.
    init(descriptors: Int? = nil, _ arguments: [String] = []) async throws {
      root = try TemporaryFolder()
      try root.write(Data(repeating: 0x61, count: 1024), to: "small")
      let large = try FileHandle(forWritingTo: try root.write(Data(), to: "large"))
      try large.truncate(atOffset: 64 << 20)
      try large.close()
      let server = Tool.products.appending(path: "echo-server").path
      var all = ["--port", "0", "--root", root.url.path] + arguments
      if RawHTTPClient.usesTLS {
        let made = try SelfSignedCertificate.make(names: ["localhost"])
        all += ["--tls", try root.write(Data(made.certificate + made.key), to: "server.pem").path]
      }
      if let descriptors {
        program = try await RunningProgram("prlimit", ["--nofile=\(descriptors)", server] + all)
      } else {
        program = try await RunningProgram(server, all)
      }
      guard let port = program.firstLine.split(separator: ":").last.flatMap({ UInt16($0) }) else {
        throw CocoaError(.fileReadCorruptFile)
      }
      self.port = port
    }

    /// The number of open descriptors.
    var descriptors: Int {
      get throws { try FileManager.default.contentsOfDirectory(atPath: folder).count }
    }

    /// What the open descriptors are, such as `socket:[123]` or the path of a file.
    var openFiles: [String] {
      get throws {
        try FileManager.default.contentsOfDirectory(atPath: folder).map { name in
          // It may have been closed in the meantime.
          (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")) ?? "closed"
        }
      }
    }

    /// The system's list of TCP connections over IPv4.
    var sockets: String { get throws { try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8) } }

    private var folder: String { "/proc/\(program.identifier)/fd" }

    /// The memory in use, in bytes.
    var memory: Int {
      get throws {
        let pages = try String(contentsOfFile: "/proc/\(program.identifier)/statm", encoding: .utf8)
          .split(separator: " ")
        return (pages.count > 1 ? Int(pages[1]) ?? 0 : 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
      }
    }

    func stop() async { await program.stop() }
  }
#endif
