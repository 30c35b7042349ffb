// Does one thing many times, to be counted from outside: Benchmarks/micro.py runs it under valgrind.
//
//     micro                 prints the names of the cases
//     micro NAME COUNT      does it COUNT times

let arguments = CommandLine.arguments
if arguments.count == 1 {
    for entry in cases { print(entry.name) }
} else if arguments.count == 3, let entry = cases.first(where: { $0.name == arguments[1] }),
    let count = Int(arguments[2]), count > 0
{
    // Printed, so that nothing can be optimised away as unused.
    print(entry.run(count))
} else {
    fatalError("usage: micro [NAME COUNT]")
}
