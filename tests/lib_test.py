#!/usr/bin/python3
"""Tests of the test tools: the notation reads back what it prints, and refuses what is not as written."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lib.notation import NotationError, parse_command, parse_reply, show  # noqa: E402
from lib.resp import Aggregate, BigNumber, Double, Error, Nil, Simple, Verbatim  # noqa: E402
from lib.transcript import Reader  # noqa: E402


def array(*items):
    return Aggregate("array", list(items))


REPLIES = [
    Simple(b"OK"),
    Simple(b"+strange "),
    Simple(b"1) not an array"),
    Simple(b"..."),
    Simple(b""),
    b"",
    b"plain",
    b"\x00\xff\r\n\"\\${x}",
    0,
    -5,
    Nil("bulk"),
    Nil("array"),
    Nil("resp3"),
    Error(b"ERR with, comma"),
    Error(b"ERR trailing space "),
    Error(b"ERR and so on ..."),
    True,
    False,
    Double(b"1.5"),
    Double(b"inf"),
    BigNumber(b"123456789012345678901234567890"),
    Verbatim(b"txt", b"a\nb"),
    array(),
    array(b"a", 1, Nil("bulk"), Simple(b"OK")),
    array(Simple(b"a, b"), Error(b"ERR x]")),
    array(array(array(b"deep", 1), b"x"), b"y"),
    array(*[b"x" * 20 for _ in range(12)]),
    array(*[array(b"k" * 30, array(b"f" * 30, b"v" * 60)) for _ in range(11)]),
    Aggregate("map", [b"k", 1, b"l", array(b"a", b"b")]),
    Aggregate("map", [b"k" * 50, array(b"v" * 50, array(1, 2)), Simple(b"s=x"), Aggregate("map", [])]),
    Aggregate("set", [b"a", b"b"]),
    Aggregate("push", [b"message", b"channel", b"x" * 100]),
]


class Notation(unittest.TestCase):
    def test_what_is_printed_is_read_back(self):
        for reply in REPLIES:
            for other in REPLIES:
                lines = show(reply)
                matches = parse_reply(lines).matches(other)
                null = isinstance(reply, Nil) and isinstance(other, Nil) and other.kind == "resp3"
                self.assertEqual(matches, reply is other or null, f"{lines} against {other}")

    def test_wildcards(self):
        for text, good, bad in [
            ("(any)", Error(b"x"), None),
            ("~ /^a.c$/", b"a\nc", b"abcd"),
            ("~ /a/", Verbatim(b"txt", b"a"), Error(b"a")),
            ("(error) ~ /^ERR/", Error(b"ERR x"), b"ERR x"),
            ("(error) ERR ...", Error(b"ERR x"), Error(b"WRONGTYPE x")),
            ("(integer) 10..20", 20, 21),
            ("(integer) ..20", -9, 21),
            ("(integer) any", 7, b"7"),
            ("(double) 1..2", Double(b"1.5"), Double(b"2.5")),
            ("(array) 2", array(1, 2), array(1)),
            ("(array) 1..", array(1, 2), array()),
            ('(unordered) ["a", "b"]', array(b"b", b"a"), array(b"b", b"b")),
            ('(unordered pairs) ["a", "1", "b", "2"]', array(b"b", b"2", b"a", b"1"), array(b"b", b"1", b"a", b"2")),
            ('(contains) ["a"]', array(b"b", b"a"), array(b"b")),
            ('(contains) {"a" => (any)}', Aggregate("map", [b"b", 1, b"a", 2]), Aggregate("map", [b"b", b"a"])),
            ('["a", (unordered) ["b", "c"]]', array(b"a", array(b"c", b"b")), array(b"a", array(b"c"))),
            ('(unordered) [(any), "a"]', array(b"a", b"b"), array(b"b", b"b")),
            ("(nil)", Nil("resp3"), Nil("array")),
            ("(nil array)", Nil("array"), Nil("bulk")),
            ("(null)", Nil("resp3"), Nil("bulk")),
            ('"ab"*3', b"ababab", b"ab"),
            ("(integer) 1", 1, True),
        ]:
            self.assertTrue(parse_reply([text]).matches(good), text)
            if bad is not None:
                self.assertFalse(parse_reply([text]).matches(bad), text)

    def test_wrong_notation_is_refused(self):
        for lines in [[], ["(what)"], ['"open'], ["1) (nil)", "3) (nil)"], ["OK", "OK"], ["[1"], ["(integer) x"]]:
            with self.assertRaises(NotationError, msg=str(lines)):
                parse_reply(lines)

    def test_commands(self):
        self.assertEqual(parse_command(r'SET "a b" \x "\x00\n" '), [b"SET", b"a b", b"\\x", b"\x00\n"])
        self.assertEqual(parse_command("A 'x\\'y' \"z\"*2"), [b"A", b"x'y", b"zz"])
        self.assertEqual(parse_command('A ${v} "<${v}>"', {"v": b"\x01"}), [b"A", b"\x01", b"<\x01>"])
        with self.assertRaises(NotationError):
            parse_command("A ${unknown}")


class Conditions(unittest.TestCase):
    def test_of_file_and_of_paragraph(self):
        read = Reader("x", "@ needs 7.2\n\n@ only sorrel why\n> A\nOK\n> B\nOK\n\n> C\nOK\n").read()
        self.assertEqual([c.version for c in read.conditions], [(7, 2)])
        self.assertEqual([len(s.conditions) for s in read.steps], [1, 1, 0])
        self.assertEqual([s.line for s in read.steps], [4, 6, 9])
        self.assertEqual(read.steps[0].conditions[0].skips((7, 0)), "why")
        self.assertIsNone(read.steps[0].conditions[0].skips(None))
        self.assertIsNone(read.conditions[0].skips((7, 4)))
        self.assertIsNotNone(read.conditions[0].skips((7, 0)))

    def test_a_condition_after_commands_is_refused(self):
        with self.assertRaises(NotationError):
            Reader("x", "> A\nOK\n@ needs 7.2\n").read()


EVERY_DIRECTIVE = """
# Every directive once, against the reference.
@ config maxmemory-policy allkeys-lru
@ config enable-debug-command yes
@ config appendonly yes

> CONFIG GET maxmemory-policy
["maxmemory-policy", "allkeys-lru"]
@ repeat 600 > RPUSH numbers ${i}
> LLEN numbers
(integer) 600
> LINDEX numbers 599
"600"
@ let last
> ECHO "<${last}>"
"<600>"
> LRANGE numbers 0 1
(array) 2
@ let second 2
> LREM numbers 1 ${second}
(integer) 1

@ conn waiter
>> BLPOP queue 0
@ nothing 20
@ blocked 1
@ conn main
> LPUSH queue job
(integer) 1
@ conn waiter
< ["queue", "job"]

@ conn subscriber
@ resp 3
> SUBSCRIBE news
>["subscribe", "news", (integer) 1]
@ conn main
> PUBLISH news hello
(integer) 1
@ conn subscriber
<
1> "message"
2> "news"
3> "hello"
@ close

@ conn main
@ raw "PING\\r\\nPING\\r\\n" -> "+PONG\\r\\n+PONG\\r\\n"
@ raw "INFO server\\r\\n" -> ~ /^\\$\\d+.*run_id:/
> SET kept value
OK
@ restart
> GET kept
"value"
> SET kept other PX 20
OK
@ advance 40
@ wait 1000 > GET kept
(nil)
@ wait 1000 > EXISTS kept -> (integer) 0
@ differs the reference is not Sorrel
> LOLWUT
"Sorrel"

@ needs 99.0 the future
> NOT-YET
OK

@ only sorrel why
> NEITHER
OK

@ conn last
> QUIT
OK
@ expect-close
"""

EVERY_MISTAKE = [
    ("> SET k v\n(nil)\n> GET k\n\"v\"\n", "expected:\n        (nil)\n    got:\n        OK"),
    ("> PING\n", "no reply is expected here"),
    ("@ what\n", "unknown directive"),
    ("> DEBUG SEGFAULT\nOK\n", "DEBUG command not allowed"),
    ("@ raw \"PING\\r\\n\" -> \"+PANG\\r\\n\"\n", '"+PONG'),
    ("@ wait 20 > GET k -> \"x\"\n", "got:\n        (nil)"),
    ("@ repeat 3 > INCR\n", "at i=1"),
    ("> SHUTDOWN NOSAVE\nOK\n", "connection closed"),
    ("@ config nosuchdirective 1\n\n> PING\nPONG\n", "did not start"),
]


class Runner(unittest.TestCase):
    def play(self, *texts):
        with tempfile.TemporaryDirectory() as folder:
            for number, text in enumerate(texts):
                with open(os.path.join(folder, f"{number}.txt"), "w", encoding="utf-8") as file:
                    file.write(text)
            runner = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_transcripts.py")
            done = subprocess.run(
                [sys.executable, runner, "--reference", "--folder", folder],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            return done.returncode, done.stdout + done.stderr

    def test_every_directive(self):
        code, output = self.play(EVERY_DIRECTIVE)
        self.assertEqual(code, 0, output)
        self.assertIn("1 passed, 0 failed", output)
        for note in ("the reference is not Sorrel", "needs 99.0: the future", "why"):
            self.assertIn(note, output)

    def test_every_mistake_is_found(self):
        code, output = self.play(*(text for text, _ in EVERY_MISTAKE))
        self.assertEqual(code, 1)
        for _, message in EVERY_MISTAKE:
            self.assertIn(message, output)
        self.assertIn(f"0 passed, {len(EVERY_MISTAKE)} failed", output)


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=0).result
    bad = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
