"""Write commands that have nothing to do, a line each: what was there before, the key that is watched, the command.

Left out: SET with a time in the past where nothing is. The reference stores the key and lets it expire; here, as in later
versions, there is nothing to store."""

STRING = ["SET k abc"]
NUMBER = ["SET k 10"]
TEMPORARY = ["SET k abc EX 1000"]
LIST = ["RPUSH k a b c"]
SET = ["SADD k a b"]
OTHER_SET = ["SADD k a b", "SADD o a b"]
ZSET = ["ZADD k 1 a 2 b"]
HASH = ["HSET k f 1 g 2"]
GEO = ["GEOADD k 13 38 a"]
LOGLOG = ["PFADD k a b"]
STREAM = ["XADD k 1-1 f v", "XADD k 2-1 f v", "XGROUP CREATE k g 0"]
READ = STREAM + ["XREADGROUP GROUP g c COUNT 1 STREAMS k >"]
FUNCTION = ["SADD k a"]


# How far the reference's answers are ours: the names of those that are compared.
EVERYTHING = ("reply", "exec", "events", "log")


def compared(command, events):
    """`events`: those of the reference."""
    words = command.split()
    # Since 7.2 these make the consumer they name, whatever they find for it, and tell of that; 7.0 does so only when
    # there is something, or does not log it.
    if words[0] in ("XCLAIM", "XAUTOCLAIM", "XREADGROUP"):
        return ("reply", "exec")
    # The reference makes the string longer and forgets to say so: after a restart it is as short as before.
    if command.startswith("BITFIELD") and "FAIL" in words and not events:
        return ("reply", "exec", "events")
    return EVERYTHING


def all_of(setting, *commands, key="k"):
    return [(setting, key, command) for command in commands]


CASES = [
    # Strings.
    *all_of(STRING, "SETNX k x", "SET k x NX", "SET k x NX GET", "SET k abc", "SET k abc KEEPTTL", "GETSET k abc",
            "APPEND k ", "SETRANGE k 0 ", "SETRANGE k 1 b", "MSETNX k 1 o 2", "GETEX k", "GETEX k PERSIST",
            "GETEX k EX 100", "INCR k", "INCRBYFLOAT k 1", "SETBIT k 0 0", "SETBIT k 1 1", "SETBIT k 100 0",
            "BITFIELD k SET u8 0 97", "BITFIELD k GET u8 0", "BITFIELD k INCRBY u8 0 0", "BITFIELD k SET u8 200 0",
            "BITFIELD k OVERFLOW FAIL INCRBY u8 0 255", "BITFIELD k OVERFLOW FAIL INCRBY u8 200 256",
            "BITFIELD k OVERFLOW FAIL SET u2 0 9", "BITFIELD k OVERFLOW SAT INCRBY u8 0 0",
            "BITFIELD k OVERFLOW FAIL INCRBY u8 0 255 SET u8 0 98", "BITFIELD k OVERFLOW FAIL INCRBY u8 100 300",
            "BITOP AND k k k", "BITOP OR k o", "GETDEL k", "SET k", "LPUSH k x"),
    *all_of([], "SET k x XX", "SET k x XX GET", "GETEX k EX 100", "GETDEL k", "GETEX k PERSIST", "SETRANGE k 0 ",
            "SETRANGE k 5 ", "APPEND k ", "BITFIELD k OVERFLOW FAIL INCRBY u8 0 256",
            "BITFIELD k OVERFLOW FAIL SET u4 100 99", "BITFIELD k SET u8 0 0", "BITFIELD k INCRBY u8 0 0", "SETBIT k 0 0",
            "BITFIELD k GET u8 0", "BITOP AND k o p", "BITOP NOT k o", "GETSET k x"),
    *all_of(NUMBER, "INCRBY k 0", "DECRBY k 0", "INCRBYFLOAT k 0", "SET k 10", "SETRANGE k 0 ", "APPEND k ",
            "BITFIELD k SET u8 0 49", "SETBIT k 7 1"),
    *all_of(TEMPORARY, "GETEX k", "GETEX k PERSIST", "PERSIST k", "EXPIRE k 2000 LT", "EXPIRE k 1 GT", "EXPIRE k 5 NX",
            "PEXPIRE k 1000000 XX", "SET k x KEEPTTL", "EXPIRE k -1"),
    # Keys.
    *all_of(STRING, "PERSIST k", "EXPIRE k 5 XX", "EXPIRE k 5 GT", "EXPIRE k 5 LT", "DEL o", "DEL o p q", "UNLINK o",
            "RENAME k k", "RENAMENX k k", "RENAME o k", "COPY o k", "MOVE k 1", "MOVE o 1", "TOUCH k", "EXISTS k",
            "EXPIREAT k 1", "EXPIREAT o 1", "PERSIST o", "SORT o STORE k", "COPY k k", "COPY k k DB 1", "FLUSHDB",
            "FLUSHALL", "SWAPDB 0 0", "SWAPDB 1 2", "SWAPDB 0 1", "DEL k k"),
    *all_of(["SET k abc", "SET o x"], "RENAMENX k o", "RENAMENX o k", "COPY o k", "COPY k o", "MSETNX k 1 p 2"),
    *all_of(["SELECT 1", "SET k x", "SELECT 0", "SET k y"], "MOVE k 1", "COPY k k DB 1"),
    *all_of(["SELECT 1", "DEL k", "SELECT 0"], "DEL k", "UNLINK k", "EXPIRE k 5", "PEXPIREAT k 1", "PERSIST k", "FLUSHDB",
            "FLUSHALL", "SWAPDB 0 1", "SWAPDB 0 0", "RENAME k o", "RENAMENX k o", "COPY k o", "SORT o STORE k",
            "RESTORE k 0 junk", "MOVE k 1"),
    # Lists.
    *all_of(LIST, "LREM k 0 x", "LTRIM k 0 -1", "LTRIM k 0 99", "LINSERT k BEFORE x y", "LSET k 0 a", "LSET k 9 a",
            "LPOP k 0", "RPOP k 0", "LPOP o", "LMPOP 1 o LEFT", "LMOVE o k LEFT LEFT", "RPOPLPUSH o k", "RPOPLPUSH k k",
            "LMOVE k k LEFT LEFT", "SORT k ALPHA STORE k", "LTRIM k 5 9", "LREM k 0 a", "SADD k x", "LPUSHX o x"),
    *all_of([], "LPUSHX k x", "RPUSHX k x", "LREM k 0 x", "LTRIM k 0 -1", "LINSERT k BEFORE x y", "LSET k 0 x", "LPOP k",
            "LPOP k 2", "LMPOP 1 k LEFT", "RPOPLPUSH k o", "LMOVE k o LEFT LEFT"),
    *all_of(["RPUSH k only"], "RPOPLPUSH k k", "LMOVE k k LEFT RIGHT"),
    # Sets.
    *all_of(SET, "SADD k a", "SREM k x", "SPOP o", "SPOP k 0", "SPOP o 2", "SMOVE k o x", "SMOVE o k a", "SMOVE k k a",
            "SINTERSTORE o x y", "SUNIONSTORE o x", "SDIFFSTORE o x", "SUNIONSTORE k k", "SINTERSTORE k x", "SDIFFSTORE k x",
            "SDIFFSTORE k k"),
    *all_of(OTHER_SET, "SMOVE k o a", "SMOVE o k a", "SUNIONSTORE k o"),
    *all_of([], "SREM k x", "SPOP k", "SPOP k 1", "SMOVE k o a", "SINTERSTORE k o", "SUNIONSTORE k o p", "SDIFFSTORE k o"),
    # Sorted sets.
    *all_of(ZSET, "ZADD k 1 a", "ZADD k NX 9 a", "ZADD k XX 1 x", "ZADD k GT 0 a", "ZADD k LT 5 a", "ZADD k CH 1 a",
            "ZADD k XX CH INCR 1 x", "ZINCRBY k 0 a", "ZADD k INCR 0 a", "ZADD k GT INCR -1 a", "ZADD k NX INCR 1 a",
            "ZREM k x", "ZREMRANGEBYSCORE k 8 9", "ZREMRANGEBYRANK k 8 9", "ZREMRANGEBYLEX k [x [z", "ZPOPMIN k 0",
            "ZPOPMAX o", "ZMPOP 1 o MIN", "ZUNIONSTORE o 1 x", "ZINTERSTORE o 1 x", "ZDIFFSTORE o 1 x",
            "ZRANGESTORE o x 0 -1", "ZUNIONSTORE k 1 k", "ZRANGESTORE k x 0 -1", "ZRANGESTORE k k 0 -1",
            "ZADD k XX GT 1 a 2 b"),
    *all_of([], "ZADD k XX 1 a", "ZADD k XX INCR 1 a", "ZREM k a", "ZREMRANGEBYRANK k 0 -1", "ZPOPMIN k", "ZPOPMIN k 2",
            "ZMPOP 1 k MIN", "ZUNIONSTORE k 1 o", "ZRANGESTORE k o 0 -1", "ZINCRBY k 0 a"),
    # Hashes.
    *all_of(HASH, "HSET k f 1", "HSETNX k f 5", "HDEL k x", "HINCRBY k f 0", "HINCRBYFLOAT k f 0", "HMSET k f 1",
            "HINCRBY k x 0", "HDEL o f"),
    *all_of([], "HDEL k f", "HSETNX k f 5", "HINCRBY k f 0"),
    # Places.
    *all_of(GEO, "GEOADD k 13 38 a", "GEOADD k NX 13 38 a", "GEOADD k XX 14 38 x", "GEOADD k NX 15 39 a",
            "GEOADD k XX CH 13 38 a", "GEOSEARCHSTORE o x FROMLONLAT 1 1 BYRADIUS 1 m",
            "GEOSEARCHSTORE k x FROMLONLAT 1 1 BYRADIUS 1 m", "GEORADIUS x 1 1 1 m STORE o",
            "GEORADIUS x 1 1 1 m STORE k", "GEOSEARCHSTORE k k FROMLONLAT 1 1 BYRADIUS 1 m"),
    *all_of([], "GEOADD k XX 14 38 x", "GEORADIUS o 1 1 1 m STORE k"),
    # HyperLogLog.
    *all_of(LOGLOG, "PFADD k a", "PFADD k", "PFMERGE k", "PFMERGE k o", "PFMERGE k k", "PFCOUNT k", "PFCOUNT k o"),
    *all_of(LOGLOG + ["PFCOUNT k"], "PFCOUNT k", "PFADD k a"),
    *all_of([], "PFADD k", "PFMERGE k", "PFMERGE k o", "PFCOUNT k"),
    # Streams.
    *all_of(STREAM, "XADD k 1-1 f v", "XADD o NOMKSTREAM * f v", "XDEL k 9-9", "XTRIM k MAXLEN 9", "XTRIM k MINID 0",
            "XTRIM k MAXLEN ~ 1", "XSETID k 2-1", "XSETID k 1-1", "XSETID k 3-1", "XGROUP CREATE k g 0",
            "XGROUP CREATE k g2 0", "XGROUP CREATE k g $ MKSTREAM", "XGROUP SETID k g 0", "XGROUP SETID k g $",
            "XGROUP SETID k none 0", "XGROUP DESTROY k none", "XGROUP DESTROY k g", "XGROUP CREATECONSUMER k g c",
            "XGROUP CREATECONSUMER k none c", "XGROUP DELCONSUMER k g none", "XGROUP DELCONSUMER k none none",
            "XACK k g 1-1", "XACK k none 1-1", "XCLAIM k g c 0 1-1", "XCLAIM k g none 0 9-9", "XCLAIM k g c 0 1-1 FORCE",
            "XCLAIM k g c 0 1-1 JUSTID", "XAUTOCLAIM k g c 0 0", "XAUTOCLAIM k g none 0 0 JUSTID", "XCLAIM k none c 0 1-1",
            "XREADGROUP GROUP g c STREAMS k 0", "XREADGROUP GROUP g c STREAMS k >",
            "XREADGROUP GROUP none c STREAMS k >", "XREADGROUP GROUP g c NOACK STREAMS k >", "XCLAIM k g c 0 9-9 FORCE", "XCLAIM k g c 0 9-9 LASTID 5-0", "XPENDING k g"),
    *all_of(READ, "XREADGROUP GROUP g c STREAMS k 0", "XREADGROUP GROUP g c STREAMS k 9", "XACK k g 9-9", "XACK k g 1-1",
            "XGROUP CREATECONSUMER k g c", "XGROUP DELCONSUMER k g c", "XGROUP DELCONSUMER k g x",
            "XCLAIM k g c 999999 1-1", "XCLAIM k g d 999999 1-1", "XCLAIM k g c 0 1-1 JUSTID", "XCLAIM k g c 0 1-1",
            "XCLAIM k g d 0 1-1", "XAUTOCLAIM k g c 999999 0", "XAUTOCLAIM k g d 999999 0", "XAUTOCLAIM k g d 0 0",
            "XAUTOCLAIM k g c 0 0 JUSTID", "XGROUP SETID k g 1-1", "XGROUP SETID k g 1-1 ENTRIESREAD 1"),
    *all_of(READ + ["XREADGROUP GROUP g c STREAMS k >"], "XREADGROUP GROUP g c STREAMS k >",
            "XREADGROUP GROUP g new STREAMS k >", "XREADGROUP GROUP g new STREAMS k 0"),
    *all_of(READ + ["XDEL k 1-1"], "XCLAIM k g c 0 1-1", "XAUTOCLAIM k g c 0 0", "XREADGROUP GROUP g c STREAMS k 0",
            "XCLAIM k g c 999999 1-1"),
    *all_of(STREAM + ["XGROUP CREATECONSUMER k g c"], "XGROUP DELCONSUMER k g c", "XREADGROUP GROUP g c STREAMS k 0",
            "XGROUP CREATECONSUMER k g c"),
    *all_of([], "XADD k NOMKSTREAM * f v", "XDEL k 1-1", "XTRIM k MAXLEN 0", "XSETID k 1-1", "XGROUP CREATE k g 0",
            "XGROUP CREATE k g 0 MKSTREAM", "XGROUP DESTROY k g", "XGROUP SETID k g 0", "XGROUP CREATECONSUMER k g c",
            "XGROUP DELCONSUMER k g c", "XACK k g 1-1", "XCLAIM k g c 0 1-1", "XAUTOCLAIM k g c 0 0",
            "XREADGROUP GROUP g c STREAMS k >"),
    *all_of(["XADD k 1-1 f v", "XDEL k 1-1"], "XDEL k 1-1", "XTRIM k MAXLEN 0", "XSETID k 1-1", "XREAD STREAMS k 0"),
    # More keys than one.
    *all_of(STRING + ["SET o x"], "DEL o", "UNLINK k p", "MSET o 1 p 2", "SETNX o y", "RENAME o p", key="k p"),
    # Scripts.
    *all_of(STRING, "EVAL return 0 0", "EVALSHA 0000000000000000000000000000000000000000 0", "SCRIPT FLUSH", "PUBLISH a b",
            "SPUBLISH a b", "FUNCTION FLUSH", "FUNCTION DELETE none"),
]
