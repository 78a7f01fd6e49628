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

  @Test func `the description contains the call, the path and the reason`() {
    #expect(error(ENOENT).description == "write /a: No such file or directory")
    #expect(SystemError(operation: "fsync", code: EIO).description == "fsync: Input/output error")
  }
}
