"""`DiskCache`: entries in a directory that many use at once, and that anybody may have written to."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from maskwright import OptionError
from maskwright.compiling.disk_cache import DiskCache, code_digest

KEYS = [f"{i:064x}" for i in range(40)]
LIMIT = 10_000
ON_POSIX = os.name == "posix"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "some" / "cache"


@pytest.fixture
def cache(folder: Path) -> DiskCache:
    return DiskCache(folder, LIMIT)


def entry(folder: Path, key: str) -> Path:
    return folder / f"{key}.mwg"


def used_at(folder: Path, key: str, seconds_ago: float) -> None:
    at = time.time() - seconds_ago
    os.utime(entry(folder, key), (at, at))


def test_entries(cache: DiskCache, folder: Path) -> None:
    assert cache.load(KEYS[0]) is None
    cache.store(KEYS[0], b"one")
    cache.store(KEYS[1], b"two")
    cache.store(KEYS[0], b"another")
    assert (cache.load(KEYS[0]), cache.load(KEYS[1])) == (b"another", b"two")
    assert DiskCache(str(folder), LIMIT).load(KEYS[1]) == b"two"
    cache.remove(KEYS[1])
    cache.remove(KEYS[1])
    assert cache.load(KEYS[1]) is None


@pytest.mark.skipif(not ON_POSIX, reason="modes are POSIX's")
def test_modes(cache: DiskCache, folder: Path) -> None:
    before = os.umask(0)
    try:
        cache.store(KEYS[0], b"one")
        DiskCache(folder / "inner", LIMIT)
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder / "inner").stat().st_mode) == 0o700
    assert stat.S_IMODE(entry(folder, KEYS[0]).stat().st_mode) == 0o600


def test_what_was_used_least_recently_goes(cache: DiskCache, folder: Path) -> None:
    for i in range(9):
        cache.store(KEYS[i], bytes([i + 1]) * 1_000)
        used_at(folder, KEYS[i], 100 - i)
    assert cache.load(KEYS[0]) is not None  # used just now
    cache.store(KEYS[9], b"x" * 2_000)
    left = [i for i in range(10) if entry(folder, KEYS[i]).exists()]
    assert left == [0, 4, 5, 6, 7, 8, 9]  # 8,000 of at most 8,750 bytes


def test_it_stays_within_its_limit(cache: DiskCache, folder: Path) -> None:
    others = [DiskCache(folder, LIMIT) for _ in range(3)]
    for i in range(400):
        (cache, *others)[i % 4].store(f"{i:064x}", b"x" * (17 * i % 900 + 1))
        held = sum(path.stat().st_size for path in folder.iterdir())
        assert held <= LIMIT + 4 * (LIMIT // 16 + 900)


def test_too_large_to_be_kept(cache: DiskCache, folder: Path) -> None:
    cache.store(KEYS[0], b"x" * (LIMIT + 1))
    assert list(folder.iterdir()) == []
    DiskCache(folder, 0).store(KEYS[0], b"x")
    assert list(folder.iterdir()) == []


def test_files_of_others_are_left_alone(cache: DiskCache, folder: Path) -> None:
    foreign = [folder / "notes.txt", folder / f"{KEYS[0]}.mwg.bak", folder / "short.mwg", folder / f"X{KEYS[0]}.mwg"]
    for path in foreign:
        path.write_bytes(b"x" * 2 * LIMIT)
    (folder / "sub").mkdir()
    for key in KEYS:
        cache.store(key, b"y" * 900)
    assert all(path.stat().st_size == 2 * LIMIT for path in foreign)
    assert (folder / "sub").is_dir()


def test_unfinished_files_go_after_an_hour(cache: DiskCache, folder: Path) -> None:
    old, new = folder / ".unfinished-a", folder / ".unfinished-b"
    for path, seconds_ago in ((old, 4_000), (new, 60)):
        path.write_bytes(b"x")
        at = time.time() - seconds_ago
        os.utime(path, (at, at))
    cache.store(KEYS[0], b"one")
    assert not old.exists()
    assert new.exists()


@pytest.mark.skipif(not ON_POSIX, reason="links, pipes and modes are POSIX's")
def test_what_is_no_file_of_ours_is_removed(cache: DiskCache, folder: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    entry(folder, KEYS[0]).symlink_to(secret)
    os.mkfifo(entry(folder, KEYS[1]))
    entry(folder, KEYS[2]).write_bytes(b"")
    entry(folder, KEYS[3]).write_bytes(b"x" * (LIMIT + 1))
    entry(folder, KEYS[4]).write_bytes(b"x")
    entry(folder, KEYS[4]).chmod(0o666)
    for key in KEYS[:5]:
        assert cache.load(key) is None
        assert not entry(folder, key).is_symlink()
        assert not entry(folder, key).exists()
    assert secret.read_bytes() == b"secret"
    entry(folder, KEYS[5]).mkdir()
    assert cache.load(KEYS[5]) is None
    cache.store(KEYS[5], b"x")
    assert entry(folder, KEYS[5]).is_dir()
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_another_user_is_removed(cache: DiskCache, folder: Path) -> None:
    cache.store(KEYS[0], b"one")
    os.chown(entry(folder, KEYS[0]), 12345, 12345)
    assert cache.load(KEYS[0]) is None
    assert not entry(folder, KEYS[0]).exists()


def test_a_directory_that_goes_away(cache: DiskCache, folder: Path) -> None:
    cache.store(KEYS[0], b"one")
    entry(folder, KEYS[0]).unlink()
    folder.rmdir()
    cache.store(KEYS[0], b"one")
    assert cache.load(KEYS[0]) is None


@pytest.mark.parametrize("name", ["file", "file/inner", "nul\0byte"])
def test_a_directory_that_cannot_be_made(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OptionError, match="cache_dir cannot be made") as info:
        DiskCache(tmp_path / name, LIMIT)
    assert info.value.option == "cache_dir"


def test_threads(cache: DiskCache, folder: Path) -> None:
    wrong: list[object] = []

    def work(number: int) -> None:
        own = DiskCache(folder, LIMIT) if number % 2 else cache
        for i in range(200):
            key = KEYS[(i * 7 + number) % 10]
            own.store(key, key.encode() * 15)
            found = own.load(KEYS[i % 10])
            if found not in (None, KEYS[i % 10].encode() * 15):
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert sum(path.stat().st_size for path in folder.iterdir()) <= LIMIT


PROGRAM = """
import sys
from maskwright.compiling.disk_cache import DiskCache
cache, number = DiskCache(sys.argv[1], 10_000), int(sys.argv[2])
print("ready", flush=True)
i = 0
while i < 3_000 or number == 0:
    key = f"{(i * 7 + number) % 12:064x}"
    cache.store(key, key.encode() * 12)
    other = f"{i % 12:064x}"
    assert cache.load(other) in (None, other.encode() * 12), other
    i += 1
"""


@pytest.mark.skipif(not ON_POSIX, reason="SIGKILL is POSIX's")
def test_processes_of_which_one_is_killed(folder: Path) -> None:
    workers = [
        subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder), str(i)], stdout=subprocess.PIPE, text=True)
        for i in range(4)
    ]
    for each in workers:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    time.sleep(0.1)  # in the middle of something
    workers[0].send_signal(signal.SIGKILL)
    assert [each.wait(timeout=120) for each in workers] == [-signal.SIGKILL, 0, 0, 0]
    for each in workers:
        assert each.stdout is not None
        each.stdout.close()
    entries = [path for path in folder.iterdir() if not path.name.startswith(".unfinished-")]
    assert entries
    assert all(path.read_bytes() == path.stem.encode() * 12 for path in entries)
    after = DiskCache(folder, LIMIT)
    after.store(KEYS[0], b"another")
    assert after.load(KEYS[0]) == b"another"


def test_the_digest_of_the_code_is_the_same_in_every_process() -> None:
    program = "from maskwright.compiling.disk_cache import code_digest; print(code_digest().hex())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == code_digest().hex()
