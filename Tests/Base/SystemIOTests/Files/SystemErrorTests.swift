import Foundation
import SystemIO
import Testing

struct SystemErrorTests {
  private func error(_ code: Int32) -> SystemError { SystemError(operation: "write", path: "/a", code: code) }

  @Test func `each property is true for its error codes only`() {
    let codes = [ENOENT, EEXIST, ENOTEMPTY, ENOSPC, EDQUOT, EFBIG, EMFILE, ENFILE, EAGAIN, EIO, EINTR, 0]
    #expect(codes.filter { error($0).isNotFound } == [ENOENT])
    #expect(codes.filter { error($0).isAlreadyThere } == [EEXIST, ENOTEMPTY])
    #expect(codes.filter { error($0).isOutOfSpace } == [ENOSPC, EDQUOT, EFBIG])
    #expect(codes.filter { error($0).isOutOfDescriptors } == [EMFILE, ENFILE])
    #expect(codes.filter { error($0).isWouldBlock } == [EAGAIN])
  }

  @Test(
    arguments: [
      ("opendir", "/a", EACCES, "Can't read /a: permission denied"),
      ("open", "/a", ENOENT, "Can't open /a: no such file or directory"),
      ("pwrite", "/a", ENOSPC, "Can't write /a: no space left on device"),
      ("mkdir", "/a", EROFS, "Can't create /a: read-only file system"),
      ("open", "/a", ELOOP, "Can't open /a: a symbolic link is not followed here"),
      ("fsync", nil, EIO, "The disk failed: fsync: Input/output error"),
      ("epoll_wait", "/a", EIO, "The disk failed: epoll_wait /a: Input/output error"),
    ] as [(String, String?, Int32, String)])
  func `the explanation says what can't be done`(operation: String, path: String?, code: Int32, text: String)
  {
    #expect(SystemError(operation: operation, path: path, code: code).explanation == text)
  }

  @Test func `the description contains the call, the path and the reason`() {
    #expect(error(ENOENT).description == "write /a: No such file or directory")
    #expect(SystemError(operation: "fsync", code: EIO).description == "fsync: Input/output error")
  }
}
