"""Reads the log files of a broker's partitions, which contain more than consumers see: markers, and commits' moments.

The format of the files (record batches, magic 2) is part of Kafka's protocol, and so are the records of
`__consumer_offsets`. Only the files of a healthy replica are read, and nothing is compressed.
"""

import bisect
import mmap
import struct
from typing import NamedTuple

# baseOffset, batchLength, partitionLeaderEpoch, magic, crc, attributes, lastOffsetDelta, baseTimestamp, maxTimestamp,
# producerId, producerEpoch, baseSequence, count
HEADER = struct.Struct(">qiibIhiqqqhii")
PREFIX = 12  # baseOffset and batchLength come before what batchLength counts.
COMPRESSED, LOG_APPEND_TIME, TRANSACTIONAL, CONTROL = 0x07, 0x08, 0x10, 0x20


class Batch(NamedTuple):
    base: int
    last: int
    attributes: int
    base_time: int
    max_time: int
    producer: int
    count: int
    records: bytes

    @property
    def is_control(self):
        return bool(self.attributes & CONTROL)

    @property
    def is_transactional(self):
        return bool(self.attributes & TRANSACTIONAL)

    def time(self, delta):
        """The moment at which the record with this time delta was appended, or created where the topic says so."""
        return self.max_time if self.attributes & LOG_APPEND_TIME else self.base_time + delta


def batches(folder, with_records=True):
    """The batches of a partition in order; an incomplete one at the end is left out."""
    for path in sorted(folder.glob("*.log")):
        if path.stat().st_size < HEADER.size:
            continue
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = 0
            while at + HEADER.size <= len(data):
                (base, length, _, magic, _, attributes, last, base_time, max_time, producer, _, _,
                 count) = HEADER.unpack_from(data, at)
                end = at + PREFIX + length
                if length <= 0 or magic != 2 or end > len(data):
                    break
                is_wanted = with_records or attributes & CONTROL
                yield Batch(base, base + last, attributes, base_time, max_time, producer, count,
                            data[at + HEADER.size:end] if is_wanted else b"")
                at = end


def varint(data, at):
    """A zigzag number and the position behind it."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
        shift += 7


def records(batch):
    """Offset, time, key and value of each record; key and value may be None."""
    if batch.attributes & COMPRESSED:
        raise ValueError("a compressed batch")
    data, at = batch.records, 0
    for _ in range(batch.count):
        length, at = varint(data, at)
        end = at + length
        time_delta, at = varint(data, at + 1)
        offset_delta, at = varint(data, at)
        fields = []
        for _ in range(2):
            size, at = varint(data, at)
            fields.append(data[at:at + size] if size >= 0 else None)
            at += max(size, 0)
        yield batch.base + offset_delta, batch.time(time_delta), fields[0], fields[1]
        at = end


def is_commit_marker(batch):
    """Whether a control batch commits its producer's transaction."""
    for _, _, key, _ in records(batch):
        return struct.unpack_from(">hh", key)[1] == 1
    return False


class End(NamedTuple):
    """The end of a partition for a reader of committed records."""
    last: int       # the offset of the last record that such a reader gets; -1 for none
    is_open: bool   # whether a transaction is undecided


def end_of(folder):
    last, pending = -1, {}
    for batch in batches(folder, with_records=False):
        if batch.is_control:
            begun = pending.pop(batch.producer, None)
            if begun is not None and is_commit_marker(batch):
                last = max(last, begun)
        elif batch.is_transactional:
            pending[batch.producer] = batch.last
        else:
            last = max(last, batch.last)
    return End(last, bool(pending))


class Visibility:
    """The moments at which the records of a partition became visible to readers of committed records."""

    def __init__(self, folder):
        self.found = []
        pending = {}
        for batch in batches(folder, with_records=False):
            if batch.is_control:
                held = pending.pop(batch.producer, [])
                if is_commit_marker(batch):
                    self.found += [(base, last, batch.max_time) for base, last in held]
            elif batch.is_transactional:
                pending.setdefault(batch.producer, []).append((batch.base, batch.last))
            else:
                self.found.append((batch.base, batch.last, batch.max_time))
        self.found.sort()

    def time(self, offset):
        base, last, time = self.found[bisect.bisect_right(self.found, (offset, float("inf"))) - 1]
        if not base <= offset <= last:
            raise ValueError(f"offset {offset} was read and is not committed")
        return time


class Commit(NamedTuple):
    """A group's offset with the moment of its visibility."""
    time: int
    topic: str
    partition: int
    offset: int


def text(data, at):
    size = struct.unpack_from(">h", data, at)[0]
    return data[at + 2:at + 2 + size].decode(), at + 2 + size


def commit_of(group, time, key, value):
    """The commit in a record of `__consumer_offsets`, if it is one of this group."""
    if key is None or value is None or struct.unpack_from(">h", key)[0] not in (0, 1):
        return None
    name, at = text(key, 2)
    if name != group:
        return None
    topic, at = text(key, at)
    return Commit(time, topic, struct.unpack_from(">i", key, at)[0], struct.unpack_from(">q", value, 2)[0])


def commits(folders, group):
    """Every commit of a group in the order in which it became visible, without those of aborted transactions.

    A plain commit's time is that of its record, a transaction's that of its marker, which follows all of its records.
    """
    found = []
    for folder in folders:
        pending = {}
        for batch in batches(folder):
            if batch.is_control:
                held = pending.pop(batch.producer, [])
                if is_commit_marker(batch):
                    found += [commit._replace(time=batch.max_time) for commit in held]
                continue
            own = [commit_of(group, time, key, value) for _, time, key, value in records(batch)]
            own = [commit for commit in own if commit]
            if batch.is_transactional:
                pending.setdefault(batch.producer, []).extend(own)
            else:
                found += own
    return found
