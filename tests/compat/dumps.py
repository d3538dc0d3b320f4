"""RESTORE with payloads made here, in the plain forms that every version reads. DUMP's own bytes are compared by what the
other server makes of them, in exchange.py."""

import struct

import values

VERSIONS = [6, 9, 10]


def crc64_table():
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x95AC9329AC4BC9B5 if crc & 1 else 0)
        table.append(crc)
    return table


TABLE = crc64_table()


def crc64(data):
    crc = 0
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc


def sealed(body, version):
    payload = body + struct.pack("<H", version)
    return payload + struct.pack("<Q", crc64(payload))


def length(number):
    return bytes([number]) if number < 64 else bytes([0x40 | number >> 8, number & 0xFF])


def string(text):
    data = text.encode("latin-1")
    return length(len(data)) + data


def distinct(m, most):
    return list(dict.fromkeys(values.element(m) for _ in range(m.random.randint(1, most))))


def body(m):
    kind = m.random.randrange(6)
    members = distinct(m, 12)
    counted = length(len(members))
    if kind == 0:
        return b"\x00" + string(members[0])
    if kind == 1:
        return b"\x01" + counted + b"".join(map(string, members))
    if kind == 2:
        return b"\x02" + counted + b"".join(map(string, members))
    if kind == 3:
        scores = [m.random.choice([0.0, 1.5, -3.0, float("inf"), 1e300]) for _ in members]
        pairs = (string(e) + struct.pack("<d", s) for e, s in zip(members, scores))
        return b"\x05" + counted + b"".join(pairs)
    if kind == 4:
        return b"\x04" + counted + b"".join(string(e) + string(values.element(m)) for e in members)
    return m.random.choice([b"\x02\x00", b"\x01\x00", b"\x04\x00", b"\x05\x00", b"\x02\x02\x01a\x01a", b"\x06", b"\x63\x01a"])


def payload(m):
    good = sealed(body(m), m.random.choice(VERSIONS))
    chance = m.random.random()
    if chance < 0.03:
        return good[:-1]
    if chance < 0.05:
        return sealed(body(m), 60000)
    return good


def restore(m):
    ttl = m.one(["0", "0", "0", "-1", "abc", "", "100000000", "99999999999"])
    options = m.maybe(0.7, "REPLACE") + m.maybe(0.1, "ABSTTL") + m.maybe(0.05, "IDLETIME", m.one(["5", "-1", "x"]))
    options += m.maybe(0.05, "FREQ", m.one(["5", "-1", "256", "255"])) + m.maybe(0.02, "NX")
    m.random.shuffle(options)
    return ["RESTORE", m.one(values.ALL), ttl, payload(m), *options]


DUMP = [(2, restore), (1, lambda m: ["DUMP", "absent"])]
