import Glibc

/// Reads the bytes that have come, like `recv`; resumes after an interruption.
///
/// A read with a time-out is interrupted when the process is stopped and continued (signal(7)), as on a machine that
/// stands still for a moment. That is not the connection's end.
func receive(from socket: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    while true {
        let count = recv(socket, buffer.baseAddress, buffer.count, 0)
        if count >= 0 || errno != EINTR { return count }
    }
}
