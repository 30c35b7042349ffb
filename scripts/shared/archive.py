"""Tar archives of which equal files make equal bytes: sorted, of one time, and everything root's."""

import gzip
import io
import os
import pathlib
import tarfile


def tar(folder, epoch, prefix=""):
    """The folder's contents below the prefix. What may be executed, or is a folder, is 0755, anything else 0644."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(pathlib.Path(folder).rglob("*")):
            entry = archive.gettarinfo(path, prefix + str(path.relative_to(folder)))
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = epoch, 0, 0, "", ""
            # A sticky bit is meant: /tmp.
            if not entry.mode & 0o1000:
                entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
            if entry.islnk():
                # Two names of one file: whether they still are depends on how they came here.
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
    """Whole, or not at all."""
    unfinished = pathlib.Path(f"{file}.new")
    unfinished.write_bytes(data)
    os.replace(unfinished, file)
