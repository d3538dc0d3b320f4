"""Collections beside the reference: work per CPU second, bytes per element, and the end of big ones."""

import random
import re
import statistics

from servers import MILLION

R = "__rand_int__"

# name, pipeline depth, requests per round, command words, wanted ratio
COLLECTION_WORKLOADS = [
    ("LPUSH", 16, 1_000_000, ["LPUSH", "list", "item:" + "x" * 10], 1.6),
    ("RPOP", 16, 1_000_000, ["RPOP", "list"], 1.6),
    ("SADD", 16, 1_000_000, ["SADD", "set", "m" + R], 1.6),
    ("HSET", 16, 1_000_000, ["HSET", "hash", "f" + R, "v" * 16], 1.6),
    ("ZADD", 16, 1_000_000, ["ZADD", "zset", R, "m" + R], 1.8),
    ("XADD", 16, 1_000_000, ["XADD", "stream", "*", "field", "value"], 1.8),
    ("LRANGE 100", 16, 200_000, ["LRANGE", "list:100", "0", "99"], 1.5),
    ("ZRANGE 10", 16, 400_000, ["ZRANGE", "zset", "500000", "500009"], 1.5),
    ("SISMEMBER", 16, 600_000, ["SISMEMBER", "set", "m" + R], 1.0),
    ("SPOP", 16, 200_000, ["SPOP", "set"], 1.0),
    ("SMEMBERS 10", 16, 400_000, ["SMEMBERS", "set:10"], 1.0),
    ("SADD new", 16, 600_000, ["SADD", "s:" + R, "a"], 1.0),
    ("HGET", 16, 600_000, ["HGET", "hash", "f" + R], 1.0),
    ("HGETALL 10", 16, 400_000, ["HGETALL", "hash:10"], 1.0),
    ("HINCRBY", 16, 600_000, ["HINCRBY", "counters", "f" + R, "1"], 1.0),
    ("HSET new", 16, 600_000, ["HSET", "h:" + R, "f", "v"], 1.0),
    ("ZSCORE", 16, 600_000, ["ZSCORE", "zset", "m" + R], 1.0),
    ("ZRANK", 16, 600_000, ["ZRANK", "zset", "m" + R], 1.0),
    ("ZINCRBY", 16, 600_000, ["ZINCRBY", "zset", "1", "m" + R], 1.0),
    ("ZPOPMIN", 16, 200_000, ["ZPOPMIN", "zset"], 1.0),
    ("ZADD new", 16, 600_000, ["ZADD", "z:" + R, "1", "m"], 1.0),
    ("LPUSH new", 16, 600_000, ["LPUSH", "l:" + R, "v"], 1.0),
    ("LINDEX", 16, 400_000, ["LINDEX", "list:big", "5000"], 1.0),
    ("XRANGE 10", 16, 200_000, ["XRANGE", "stream", "-", "+", "COUNT", "10"], 1.0),
    ("PFADD", 16, 600_000, ["PFADD", "sketch", R], 1.0),
    ("GEOSEARCH", 16, 20_000,
     ["GEOSEARCH", "places", "FROMLONLAT", "13.4", "52.5", "BYRADIUS", "50", "km"], 1.0),
    ("SORT 100", 16, 40_000, ["SORT", "numbers"], 1.0),
]

# name, command words, elements per command, wanted bytes per element
COLLECTION_SHAPES = [
    ("hash 12/16", ["HSET", "k", R, "v" * 16], 1, 46),
    ("set 12", ["SADD", "k", R], 1, 28),
    # Without leading zeros, and with as many digits.
    ("set of integers", ["SADD", "k", "1" + R], 1, 20),
    ("sorted set 12", ["ZADD", "k", R, R], 1, 48),
    ("list 15", ["RPUSH", "k", "abc" + R], 1, 18),
    ("hashes of 10",
     ["HSET", "h:" + R] + [w for i in range(10) for w in (f"field{i}", "v" + R)], 10, None),
]


def fill_collections(server):
    server.fill(["ZADD", "zset", R, "m" + R])
    server.fill(["SADD", "set", "m" + R])
    server.fill(["HSET", "hash", "f" + R, "v" * 16])
    server.fill(["RPUSH", "list:big", "item:" + R], 10_000)
    server.ask("RPUSH", "list:100", *[f"item:{i:010d}" for i in range(100)])
    server.ask("SADD", "set:10", *[f"member{i}" for i in range(10)])
    server.ask("HSET", "hash:10", *[w for i in range(10) for w in (f"field{i}", f"value{i}")])
    server.ask("RPUSH", "numbers", *[str(i * 7919 % 1000) for i in range(100)])
    draw = random.Random(7)
    places = [w for i in range(2_000)
              for w in (str(draw.uniform(12, 15)), str(draw.uniform(51, 54)), f"place:{i}")]
    server.ask("GEOADD", "places", *places)


def measure_ranks(servers, rounds):
    """ZRANGE of ten members at random ranks, which the usual generator cannot ask for."""
    draw = random.Random(3)
    starts = [draw.randrange(MILLION - 10) for _ in range(200_000)]
    commands = [("ZRANGE", "zset", str(start), str(start + 9)) for start in starts]
    ratios = []
    for _ in range(rounds):
        redis, sorrel = [server.pipe(commands) for server in servers]
        ratios.append(redis / sorrel)
    ratio = statistics.median(ratios)
    print(f"ZRANGE of 10 at random ranks, one pipeline: {ratio:.2f} (wanted 1.50)", flush=True)
    return [] if ratio >= 1.5 else ["ZRANGE at random"]


def executed_us(server, command):
    """What the slow log says of the newest `command`."""
    entries = re.findall(r"^(\d+)\n" + command + "$", server.ask("SLOWLOG", "GET", "-1"), re.M)
    return int(entries[0])


def measure_big(make_servers, elements=10 * MILLION):
    """Ten million elements: how long their end holds the loop, and what reading them costs."""
    big = [("hash", ["HSET", "k", R, "v" * 16], ["HGETALL", "k"]),
           ("set", ["SADD", "k", "m" + R], ["SMEMBERS", "k"]),
           ("sorted set", ["ZADD", "k", R, "m" + R], ["ZRANGE", "k", "0", "-1"]),
           ("list", ["RPUSH", "k", "item:" + R], ["LRANGE", "k", "0", "-1"])]
    print(f"\n{'ten million':12} {'redis read s':>12} {'sorrel':>8} {'sorrel DEL us':>14} {'SET us':>7}")
    missed = []
    for name, words, read in big:
        read_s, ends = {}, {}
        for server in make_servers():
            server.ask("CONFIG", "SET", "slowlog-log-slower-than", "0")
            server.fill(words, elements)
            read_s[server.name] = server.read_whole(read)
            if server.name == "sorrel":
                server.ask("DEL", "k")
                ends["DEL"] = executed_us(server, "DEL")
                server.fill(words, elements)
                server.ask("SET", "k", "v")
                ends["SET"] = executed_us(server, "SET")
            server.stop()
        print(f"{name:12} {read_s['redis']:12.2f} {read_s['sorrel']:8.2f} {ends['DEL']:14}"
              f" {ends['SET']:7}", flush=True)
        if max(ends.values()) > 2000:
            missed.append(f"end of a big {name}")
        if read_s["sorrel"] > read_s["redis"]:
            missed.append(f"reading a big {name}")
    return missed
