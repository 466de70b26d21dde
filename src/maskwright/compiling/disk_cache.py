"""Bytes by key in a directory, for many processes and threads at once.

    cache = DiskCache("/var/cache/maskwright", limit_bytes=256 << 20)
    cache.store(key, data)      # key: 64 hexadecimal digits
    cache.load(key)             # the bytes, or None

A file an entry, `<key>.mwg`, written under another name and then renamed: a reader sees all of it or none. There is no
lock, so none is left behind by a process that is killed; its unfinished file is removed after an hour. The time of a
file's last use is its modification time. When they hold too much, the files used least recently are removed, down to
seven eighths of the limit; a process looks when it begins to write, and again after each sixteenth of the limit that it
wrote, so several that write at once may pass the limit by that much each until then.

The directory is made with mode 0700, its files with 0600. It is input from outside: a file that is no regular one, that
belongs to another user, that others may write to, or that is too large is treated as absent and removed. What is in a
file is the business of who asked for it, who calls `remove` if it is no good. Files with other names are never touched.
An operation that the system refuses (a full disk, a directory that cannot be written to) is one that did nothing.
Tested by tests/saved/test_disk_cache.py.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

import maskwright
from maskwright.errors import OptionError

_ENTRY = re.compile(r"[0-9a-f]{64}\.mwg")
_PREFIX = ".unfinished-"
_UNFINISHED_FOR_S = 3600.0
_SUFFIXES = (".py", ".txt", ".lark")
_USERS_OF_GRAMMARS = ("bitmask", "cli", "compat", "engine", "integrations", "lm", "sampling", "serve", "show")
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
# A link, or a pipe that nobody writes to, must not be followed or waited for.
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


# Of a link, a file that we may not read, and a socket. Others, such as too many open files, say nothing of the file.
_FOREIGN = (errno.ELOOP, errno.EACCES, errno.ENXIO)


class _File(NamedTuple):
    used_at: float
    size: int
    name: str


class DiskCache:
    """A directory of entries. Thread-safe, and safe to use in several processes and after a fork.

    Raises:
        OptionError: The directory is not one, and cannot be made.
    """

    def __init__(self, directory: str | os.PathLike[str], limit_bytes: int) -> None:
        if not os.fspath(directory):  # it would mean the working directory
            raise OptionError("cache_dir is empty", option="cache_dir", hint="pass a directory, or None for no cache")
        self._directory = Path(os.fsdecode(directory)).absolute()
        self._limit_bytes = limit_bytes
        self._written = limit_bytes  # since the last look at what all files hold; none was had
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise OptionError(
                f"cache_dir cannot be made: {self._directory}: {reason}",
                option="cache_dir",
                hint="pass a directory that this process may write to",
            ) from None

    def load(self, key: str) -> bytes | None:
        """Return an entry's bytes, and note that it was used; None if there is no such entry."""
        path = self._path(key)
        try:
            descriptor = os.open(path, _READ)
        except OSError as error:
            if error.errno in _FOREIGN:
                self.remove(key)
            return None
        try:
            with open(descriptor, "rb") as file:
                found = os.fstat(descriptor)
                data = file.read(self._limit_bytes + 1) if self._is_ours(found) else b""
        except OSError:
            data = b""
        if not data or len(data) > self._limit_bytes:
            self.remove(key)
            return None
        self._touch(path)
        return data

    def store(self, key: str, data: bytes) -> None:
        """Keep an entry, in place of one that was there."""
        if len(data) > self._limit_bytes:
            return
        unfinished = None
        try:
            descriptor, unfinished = tempfile.mkstemp(prefix=_PREFIX, dir=self._directory)  # with mode 0600
            with open(descriptor, "wb") as file:
                file.write(data)
            os.replace(unfinished, self._path(key))
        except OSError:
            if unfinished is not None:
                _remove(unfinished)
            return
        if self._is_time_to_look(len(data)):
            self._remove_least_recently_used()

    def remove(self, key: str) -> None:
        """Remove an entry, if it is there."""
        _remove(self._path(key))

    def _path(self, key: str) -> str:
        return str(self._directory / f"{key}.mwg")

    def _is_ours(self, found: os.stat_result) -> bool:
        if not stat.S_ISREG(found.st_mode) or found.st_size > self._limit_bytes:
            return False
        if not hasattr(os, "geteuid"):  # Windows, where access is not in the mode
            return True
        return found.st_uid == os.geteuid() and not found.st_mode & _WRITABLE_BY_OTHERS

    def _touch(self, path: str) -> None:
        with suppress(OSError):
            os.utime(path)

    def _is_time_to_look(self, num_bytes: int) -> bool:
        self._written += num_bytes  # a thread may overwrite another one's count: then the next look is a little later
        if self._written <= self._limit_bytes // 16:
            return False
        self._written = 0
        return True

    def _remove_least_recently_used(self) -> None:
        files = sorted(self._files())
        total = sum(file.size for file in files)
        if total <= self._limit_bytes:
            return
        for file in files:
            if total <= self._limit_bytes - self._limit_bytes // 8:
                return
            _remove(str(self._directory / file.name))
            total -= file.size

    def _files(self) -> list[_File]:
        """The entries. Files that were never finished are removed."""
        found = []
        with suppress(OSError), os.scandir(self._directory) as listed:
            for each in listed:
                is_unfinished = each.name.startswith(_PREFIX)
                if not is_unfinished and not _ENTRY.fullmatch(each.name):
                    continue
                at = _stat(each)
                if at is None:
                    continue
                if is_unfinished and time.time() - at.st_mtime > _UNFINISHED_FOR_S:
                    _remove(each.path)
                elif not is_unfinished:
                    found.append(_File(at.st_mtime, at.st_size, each.name))
        return found


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:  # removed by another process meanwhile
        return None


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)


@cache
def code_digest() -> bytes:
    """A digest of this release and of the Python code in it that decides what a structure means.

    Another release, or a front-end changed by hand, has another one. Some milliseconds, once a process.
    """
    digest = hashlib.sha256(maskwright.__version__.encode())
    package = Path(maskwright.__file__).parent
    folders = sorted(each for each in package.iterdir() if each.name not in _USERS_OF_GRAMMARS)
    for path in (path for each in folders for path in ((each,) if each.is_file() else sorted(each.rglob("*")))):
        if path.suffix in _SUFFIXES:
            content = path.read_bytes()
            digest.update(f"{path.relative_to(package).as_posix()}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.digest()
