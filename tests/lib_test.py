#!/usr/bin/python3
"""Tests of the test tools: the notation reads back what it prints, and refuses what is not as written."""

import os
import sys
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


if __name__ == "__main__":
    outcome = unittest.main(exit=False, verbosity=0).result
    bad = len(outcome.failures) + len(outcome.errors)
    print(f"{outcome.testsRun - bad} passed, {bad} failed")
    sys.exit(1 if bad else 0)
