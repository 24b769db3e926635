"""Writes and walks a RocksDB through its ordinary bindings: rocks.py write|walk DIRECTORY ROWS."""

import sys

from rocksdict import AccessType, Options, Rdict, WriteBatch


def key(number):
    """A tick of a pool, as Osmosis writes it: pool, sign, tick."""
    pool, tick = number // 5000, number % 5000
    return b"\x01" + pool.to_bytes(8, "big") + b"\x06" + tick.to_bytes(8, "big")


def write(directory, rows):
    database = Rdict(directory, Options(raw_mode=True))
    batch = WriteBatch(raw_mode=True)
    for number in range(rows):
        batch.put(key(number), number.to_bytes(8, "big") * 8)
        if number % 10000 == 9999:
            database.write(batch)
            batch = WriteBatch(raw_mode=True)
    database.write(batch)
    database.flush()
    database.close()


def walk(directory):
    database = Rdict(directory, Options(raw_mode=True), access_type=AccessType.read_only())
    rows = size = 0
    for found, value in database.items():
        rows += 1
        size += len(found) + len(value)
    print(f"rows {rows} bytes {size}")


if sys.argv[1] == "write":
    write(sys.argv[2], int(sys.argv[3]))
else:
    walk(sys.argv[2])
