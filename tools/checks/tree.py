"""What the checks look at: the files of the tree and the table of rooms."""

import os
import re
from functools import cached_property

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


class Tree:
    def __init__(self, root, build):
        self.root = root
        self.build = build
        self._texts = {}

    @cached_property
    def sources(self):
        """Every C++ file below src/, relative to the root, sorted."""
        found = []
        for folder, _, names in os.walk(os.path.join(self.root, "src")):
            found += [os.path.relpath(os.path.join(folder, n), self.root) for n in names if n.endswith((".cc", ".h"))]
        return sorted(found)

    @property
    def headers(self):
        return [path for path in self.sources if path.endswith(".h")]

    def text(self, path):
        if path not in self._texts:
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                self._texts[path] = file.read()
        return self._texts[path]

    def includes(self, path):
        """The quoted includes of a file, in order."""
        return INCLUDE.findall(self.text(path))

    @cached_property
    def rooms(self):
        """{room: [rooms it may include]} in the order of cmake/rooms.table."""
        rooms = {}
        for line in self.text("cmake/rooms.table").splitlines():
            name, colon, uses = line.partition(":")
            if colon and not line.startswith("#"):
                rooms[name.strip()] = uses.split()
        return rooms
