#!/usr/bin/python3
"""The checker must accept what can be explained and refuse what cannot."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import model  # noqa: E402
from checker import Event, explain  # noqa: E402

NONE = (None, None)


def explained(*rows, start=NONE):
    """Rows are (client, sent, answered, op, answer)."""
    return explain([Event(c, op, sent, answered, answer) for c, sent, answered, op, answer in rows], start)


class Checker(unittest.TestCase):
    def test_one_after_the_other(self):
        self.assertEqual(explained((1, 0, 1, ("SET", 0, "a"), "OK"), (2, 2, 3, ("GET", 0), "a")), [0, 1])

    def test_concurrent_commands_may_come_in_either_order(self):
        for seen in (None, "a"):
            self.assertIsNotNone(explained((1, 0, 9, ("SET", 0, "a"), "OK"), (2, 1, 8, ("GET", 0), seen)))

    def test_a_stale_read(self):
        self.assertIsNone(explained((1, 0, 1, ("SET", 0, "a"), "OK"), (2, 2, 3, ("GET", 0), None)))

    def test_a_read_of_what_nobody_wrote(self):
        self.assertIsNone(explained((1, 0, 1, ("SET", 0, "a"), "OK"), (2, 0, 3, ("GET", 0), "b")))

    def test_a_lost_update(self):
        self.assertIsNone(explained((1, 0, 5, ("INCR", 0), 1), (2, 0, 5, ("INCR", 0), 1)))
        self.assertIsNotNone(explained((1, 0, 5, ("INCR", 0), 2), (2, 0, 5, ("INCR", 0), 1)))

    def test_a_torn_read_of_two_keys(self):
        rows = [(1, 0, 9, ("MSET", (0, "a"), (1, "a")), "OK"), (2, 1, 8, ("MGET", 0, 1), ("a", None))]
        self.assertIsNone(explained(*rows))

    def test_a_key_in_two_places_while_it_is_renamed(self):
        rows = [(1, 0, 9, ("RENAME", 0, 1), "OK"), (2, 1, 8, ("EXISTS", 0, 1), 2)]
        self.assertIsNone(explained(*rows, start=("a", None)))
        rows = [(1, 0, 9, ("RENAME", 0, 1), "OK"), (2, 1, 8, ("EXISTS", 0, 1), 0)]
        self.assertIsNone(explained(*rows, start=("a", None)))

    def test_two_readers_that_see_two_writes_in_different_orders(self):
        rows = [
            (1, 0, 20, ("SET", 0, "a"), "OK"),
            (2, 0, 20, ("SET", 1, "b"), "OK"),
            (3, 1, 2, ("GET", 0), "a"),
            (3, 3, 4, ("GET", 1), None),
            (4, 1, 2, ("GET", 1), "b"),
            (4, 3, 4, ("GET", 0), None),
        ]
        self.assertIsNone(explained(*rows))

    def test_a_pipeline_keeps_its_order(self):
        rows = [(1, 0, 9, ("SET", 0, "a"), "OK"), (1, 0, 9, ("GET", 0), None)]
        self.assertIsNone(explained(*rows))
        rows = [(1, 0, 9, ("GET", 0), None), (1, 0, 9, ("SET", 0, "a"), "OK")]
        self.assertEqual(explained(*rows), [0, 1])

    def test_it_goes_back_when_the_first_choice_was_wrong(self):
        rows = [
            (1, 0, 9, ("GETSET", 0, "a"), "b"),
            (2, 0, 10, ("GETSET", 0, "b"), "c"),
            (3, 0, 11, ("GETSET", 0, "c"), None),
            (4, 20, 21, ("GET", 0), "a"),
        ]
        self.assertEqual(explained(*rows), [2, 1, 0, 3])

    def test_what_changes_nothing_now_may_change_something_later(self):
        rows = [
            (1, 0, 30, ("COPYOVER", 0, 1), 1),
            (2, 0, 30, ("SET", 0, "b"), "OK"),
            (3, 40, 41, ("MGET", 0, 1), ("b", "b")),
        ]
        self.assertEqual(explained(*rows, start=("a", "a")), [1, 0, 2])

    def test_the_model_reads_integers_as_the_server_does(self):
        for text in ("", "-", "01", "-0", "+1", " 1", "9223372036854775808", "1.0"):
            self.assertIsNone(model.as_integer(text), text)
        self.assertEqual(model.as_integer("-9223372036854775808"), -(2**63))

    def test_the_model(self):
        state, answer = model.apply(("1", None), ("RENAMENX", 0, 1))
        self.assertEqual((state, answer), ((None, "1"), 1))
        self.assertEqual(model.apply(state, ("RENAME", 0, 1)), (state, "ERR no such key"))
        self.assertEqual(model.apply(state, ("COPY", 1, 0)), (("1", "1"), 1))
        self.assertEqual(model.apply(state, ("MSETNX", (0, "x"), (1, "y"))), (state, 0))
        self.assertEqual(model.apply(state, ("APPEND", 1, "2")), ((None, "12"), 2))
        self.assertEqual(model.apply(("x", None), ("INCR", 0)), (("x", None), model.NOT_INTEGER))


if __name__ == "__main__":
    unittest.main()
