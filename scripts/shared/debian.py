"""The Debian that scripts/beside made, at DEBIAN_ROOT: the libraries that a program loads there, and their packages."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(os.environ["DEBIAN_ROOT"])


def output(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def inside(*command):
    return output("chroot", str(ROOT), "env", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", *command)


def named_libraries(program):
    """The names of the libraries that the program itself requests."""
    return sorted(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", "--wide", str(program))))


def loaded_libraries(program):
    """The files of the libraries that the loader uses for the program, which is in the root, by name."""
    answer = inside("ldd", "/" + str(program.relative_to(ROOT)))
    found = dict(re.findall(r"^\s*(\S+) => (/\S+) \(0x", answer, re.MULTILINE))
    # The loader has no name of its own there.
    missing = {name for name in named_libraries(program) if name not in answer}
    if missing:
        raise SystemExit(f"{program.name}: the root lacks {', '.join(sorted(missing))}")
    return {name: inside("readlink", "-f", path).strip() for name, path in sorted(found.items())}


def library_file(name):
    """The loader's file for the name."""
    find = 'readlink -f "$(ldconfig -p | sed -n "s|^[[:space:]]*$1 (.*x86-64.*) => ||p" | head -n 1)"'
    return inside("sh", "-c", find, "sh", name).strip()


def package_of(file):
    """The package of a file. Older ones name it below /lib, which is /usr/lib today."""
    answer = inside("dpkg-query", "--search", "*" + file.removeprefix("/usr"))
    return answer.split(":")[0]


def version_of(package):
    """The package's version, and the source package that it was built from."""
    answer = inside("dpkg-query", "--show", "--showformat=${Version} ${source:Package}\n", package)
    return answer.splitlines()[0].split(" ")
