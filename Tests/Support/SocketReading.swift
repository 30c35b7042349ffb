import Glibc

/// Reads what has come, as `recv` does; goes on when it was interrupted.
///
/// A read with a time-out is interrupted when the process was stopped and goes on (signal(7)), as on a machine that stands
/// still for a moment. It is no end of the connection.
func receive(from socket: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int {
    while true {
        let count = recv(socket, buffer.baseAddress, buffer.count, 0)
        if count >= 0 || errno != EINTR { return count }
    }
}
