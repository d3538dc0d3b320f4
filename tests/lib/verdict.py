"""What a test wants, and what is said when it did not get it."""

import time
import traceback


class Failed(Exception):
    """What a test wanted and what it got."""


def holds(condition, what):
    if not condition:
        raise Failed(what)


def same(got, wanted):
    holds(got == wanted, f"wanted {wanted!r}, got {got!r}")


def wait_until(condition, what, bound_s=10.0):
    deadline = time.monotonic() + bound_s
    while not condition():
        holds(time.monotonic() < deadline, f"not within {bound_s:.0f} s: {what}")
        time.sleep(0.005)


def attempt(name, run):
    """Runs it and tells how that went; True when all was well."""
    began = time.monotonic()
    try:
        run()
    except Exception:  # pylint: disable=broad-except
        print(f"FAIL  {name}\n{traceback.format_exc()}")
        return False
    print(f"ok    {name} ({time.monotonic() - began:.1f} s)")
    return True


def summary(verdicts):
    """The last line, and the exit code."""
    print(f"{sum(verdicts)} passed, {len(verdicts) - sum(verdicts)} failed")
    return 0 if all(verdicts) else 1
