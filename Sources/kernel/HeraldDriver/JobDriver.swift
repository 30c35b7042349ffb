package import HeraldTime

/// The decisions of a job: a value without I/O, clock, randomness or thread.
///
/// Inputs are methods of its own; orders come out of ``takeActions()``.
package protocol JobMachine {
    /// An order of the machine.
    associatedtype Action

    /// Does everything due by now.
    mutating func advance(now: Moment)
    /// The time at which ``advance(now:)`` has something to do without an input; `nil` for never.
    var nextWake: MonotonicTime? { get }
    /// The orders, in sequence; empty afterwards.
    mutating func takeActions() -> [Action]
    /// Whether the job has ended.
    var isOver: Bool { get }
}

/// Everything that a job reaches beyond its own memory.
///
/// A process has clients; the simulation (`Tests/Simulation`) runs the same job over a cluster in memory.
package protocol JobIO: AnyObject {
    associatedtype Machine: JobMachine

    /// The time on both clocks.
    var now: Moment { get }
    /// Carries out an action, or begins to.
    func perform(_ action: Machine.Action)
    /// Gives the machine the arrivals, as far as it takes them.
    func deliver(to machine: inout Machine)
    /// Waits until something arrives, or until this moment.
    func wait(until moment: MonotonicTime?)
}

/// Runs a machine: inputs, decisions, actions.
///
/// One thread.
package final class JobDriver<IO: JobIO> {
    package let io: IO
    package private(set) var machine: IO.Machine

    package init(_ machine: IO.Machine, io: IO) {
        self.machine = machine
        self.io = io
    }

    /// One turn: arrivals, due work, and their consequences.
    package func turn() {
        io.deliver(to: &machine)
        machine.advance(now: io.now)
        for action in machine.takeActions() { io.perform(action) }
    }

    /// Works until the job has ended.
    package func run() {
        while true {
            turn()
            if machine.isOver { return }
            io.wait(until: machine.nextWake)
        }
    }
}
