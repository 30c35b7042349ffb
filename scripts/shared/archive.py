"""Tar archives in which equal files make equal bytes: sorted, with one time, and owned by root."""

import gzip
import io
import os
import pathlib
import tarfile


def tar(folder, epoch, prefix=""):
    """The folder's contents below the prefix. Executables and folders are 0755, all others 0644."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            entry = archive.gettarinfo(path, prefix + str(path.relative_to(folder)))
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = epoch, 0, 0, "", ""
            # A sticky bit is intended: /tmp.
            if not entry.mode & 0o1000:
                entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            if entry.islnk():
                # Two names of one file: whether they still are depends on the way in which they were copied.
                entry.type, entry.linkname, entry.size = tarfile.REGTYPE, "", path.stat().st_size
            if entry.isreg():
                with path.open("rb") as file:
                    archive.addfile(entry, file)
            else:
                archive.addfile(entry)
    return buffer.getvalue()


def tar_of(contents, epoch):
    """An archive of files that are not on disk, by name, in this order."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in contents.items():
            entry = tarfile.TarInfo(name)
            entry.mtime, entry.size, entry.mode = epoch, len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def compressed(data):
    return gzip.compress(data, compresslevel=9, mtime=0)


def write(file, data):
    """Writes the file completely, or not at all."""
    unfinished = pathlib.Path(f"{file}.new")
    unfinished.write_bytes(data)
    os.replace(unfinished, file)
