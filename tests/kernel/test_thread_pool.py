"""How many threads the kernel takes: affinity, and CPU quotas of control groups, read from a tree of files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from maskwright._kernel import available_cpus

HERE = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
V2_MOUNT = "31 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate"
V1_MOUNT = "35 23 0:30 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct"

pytestmark = pytest.mark.skipif(HERE < 2, reason="one CPU is the least there is")


def tree(root: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    return str(root)


def test_nothing_to_read_sets_no_limit(tmp_path: Path) -> None:
    assert available_cpus(str(tmp_path)) == HERE
    assert 1 <= available_cpus("") <= HERE


V2 = {"/proc/self/cgroup": "0::/pod/box", "/proc/self/mountinfo": V2_MOUNT}
V1 = {"/proc/self/cgroup": "4:memory:/other\n3:cpu,cpuacct:/docker/box", "/proc/self/mountinfo": V1_MOUNT}
V1_BOX = "/sys/fs/cgroup/cpu,cpuacct/docker/box/"
CASES = {
    "v2, one CPU": (V2 | {"/sys/fs/cgroup/pod/box/cpu.max": "100000 100000"}, 1),
    "v2, half a CPU": (V2 | {"/sys/fs/cgroup/pod/box/cpu.max": "50000 100000"}, 1),
    "v2, one and a half": (V2 | {"/sys/fs/cgroup/pod/box/cpu.max": "150000 100000"}, 2),
    "v2, no limit": (V2 | {"/sys/fs/cgroup/pod/box/cpu.max": "max 100000"}, HERE),
    "v2, more than there are": (V2 | {"/sys/fs/cgroup/pod/box/cpu.max": "99000000 100000"}, HERE),
    "v2, the parent's limit": (
        V2 | {"/sys/fs/cgroup/pod/box/cpu.max": "max 100000", "/sys/fs/cgroup/pod/cpu.max": "100000 100000"},
        1,
    ),
    "v2, in a container": (
        {
            "/proc/self/cgroup": "0::/",
            "/proc/self/mountinfo": V2_MOUNT,
            "/sys/fs/cgroup/cpu.max": "100000 100000",
        },
        1,
    ),
    "v2, a part mounted": (
        {
            "/proc/self/cgroup": "0::/pod/box",
            "/proc/self/mountinfo": V2_MOUNT.replace(" / /sys", " /pod /sys"),
            "/sys/fs/cgroup/box/cpu.max": "100000 100000",
        },
        1,
    ),
    "v1": (V1 | {V1_BOX + "cpu.cfs_quota_us": "100000", V1_BOX + "cpu.cfs_period_us": "100000"}, 1),
    "v1, no limit": (V1 | {V1_BOX + "cpu.cfs_quota_us": "-1", V1_BOX + "cpu.cfs_period_us": "100000"}, HERE),
    "v1, in a container": (
        V1
        | {
            "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "100000",
            "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
        },
        1,
    ),
    "nonsense": (
        {
            "/proc/self/cgroup": "::::\nnothing\n0::",
            "/proc/self/mountinfo": "x - y\n - \n" + V2_MOUNT,
            "/sys/fs/cgroup/cpu.max": "-5 0",
        },
        HERE,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_control_groups(name: str, tmp_path: Path) -> None:
    files, expected = CASES[name]
    assert available_cpus(tree(tmp_path, files)) == min(expected, HERE)


def test_affinity() -> None:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert available_cpus("") == 1
    finally:
        os.sched_setaffinity(0, allowed)
