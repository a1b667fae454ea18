"""What keeps an answer's code from this machine. Linux only; works as root and as an ordinary user.

``enter`` moves the warm parent, before it imports a library, into a file system that holds Python, its
packages and little else, read-only, as a user without any right. ``fork`` starts each task from there as the
first process of namespaces of its own (users, processes, network, mounts, IPC), so that ending it ends all
it has started; ``confine`` gives it one writable folder in memory, no capability and a filter of calls.

System calls are made directly, since Python 3.11 has no names for them. Numbers and flags are the kernel's,
see unshare(2), clone(2), pivot_root(2), mount_setattr(2), capset(2), seccomp(2).
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import signal
import struct
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

__all__ = ["FOLDER", "IN_FORCE", "confine", "enter", "fork", "limit"]

FOLDER = "/plot"  # the only folder that an isolated task may write to
IN_FORCE = (
    "user, process, network, mount and IPC namespaces, read-only file system of Python alone, "
    "user 'nobody', no capabilities, seccomp filter, limits of CPU, memory, disk and processes"
)
_NOBODY = 65534
#: Where the file system of tasks is built: in our own view of the files, over a folder there is anywhere.
_ROOT = "/dev"
_SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache")
# Not /dev/zero: what is mapped from it in common belongs to no process's memory.
_DEVICES = ("null", "random", "urandom", "full")

_NEWNS, _NEWUTS, _NEWIPC = 0x0002_0000, 0x0400_0000, 0x0800_0000
_NEWUSER, _NEWPID, _NEWNET = 0x1000_0000, 0x2000_0000, 0x4000_0000
_ANY_NAMESPACE = _NEWNS | _NEWUTS | _NEWIPC | _NEWUSER | _NEWPID | _NEWNET | 0x0200_0000 | 0x80
_NOSUID, _NODEV, _BIND, _REC, _PRIVATE, _DETACH = 2, 4, 1 << 12, 1 << 14, 1 << 18, 2
_READ_ONLY = 1 | _NOSUID | _NODEV  # attributes of mount_setattr(2)
_PDEATHSIG, _DUMPABLE, _SECCOMP, _NO_NEW_PRIVS = 1, 4, 22, 38

#: Numbers of system calls: x86-64, arm64.
_CALLS = {
    **{"clone": (56, 220), "clone3": (435, 435), "unshare": (272, 97), "setns": (308, 268)},
    **{"mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "mount_setattr": (442, 442)},
    **{"prctl": (157, 167), "capset": (126, 91), "mmap": (9, 222), "socket": (41, 198)},
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271)},
    **{"pidfd_getfd": (438, 438), "memfd_create": (319, 279), "memfd_secret": (447, 447)},
    **{"shmget": (29, 194), "mq_open": (240, 180), "bpf": (321, 280), "perf_event_open": (298, 241)},
    **{"userfaultfd": (323, 282), "io_uring_setup": (425, 425), "add_key": (248, 217)},
    **{"request_key": (249, 218), "keyctl": (250, 219), "personality": (135, 92)},
    **{"semget": (64, 190), "msgget": (68, 186), "socketpair": (53, 199), "setpriority": (141, 140)},
    **{"sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "sched_setattr": (314, 274)},
    **{"sched_setaffinity": (203, 122)},
}
#: What an ordinary process may call without a capability, and a plot has no use for: other processes, memory
#: that no process is charged for, to be slow as if the machine were busy, large parts of the kernel. What
#: needs a capability is refused without this.
_REFUSED = (
    *("unshare", "setns", "mount", "socket", "ptrace", "process_vm_readv", "process_vm_writev"),
    *("pidfd_getfd", "memfd_create", "memfd_secret", "shmget", "mq_open", "bpf", "perf_event_open"),
    *("userfaultfd", "io_uring_setup", "add_key", "request_key", "keyctl", "personality"),
    *("semget", "msgget", "socketpair", "setpriority", "sched_setparam", "sched_setscheduler"),
    *("sched_setattr", "sched_setaffinity"),
)
_MACHINES = {"x86_64": (0, 0xC000_003E), "aarch64": (1, 0xC000_00B7)}  # column above; name in seccomp(2)

_libc = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter's lock, as a fork has to


def _call(name: str, *arguments: int | str | bytes | None) -> int:
    """A system call. Raises ``OSError`` that names it."""
    if platform.machine() not in _MACHINES:
        raise OSError(errno.ENOSYS, f"there is no table of system calls for {platform.machine()}")
    given = [os.fsencode(one) if isinstance(one, str) else one for one in arguments]
    values = [ctypes.c_long(one) if isinstance(one, int) else ctypes.c_char_p(one) for one in given]
    result = int(_libc.syscall(ctypes.c_long(_number(name)), *values))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def _number(name: str) -> int:
    return _CALLS[name][_MACHINES[platform.machine()][0]]


# The warm parent


def enter(package: Path) -> int:
    """Leave for a file system of Python alone, without any right. ``package``, the folder of this package,
    is not in it, nor any other copy of it.

    Returns a descriptor of /proc, which that file system has not. Raises ``OSError`` where the kernel or a
    container refuses.
    """
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    spaces = _NEWNS | _NEWNET | _NEWIPC | _NEWUTS
    as_root = os.geteuid() == 0
    if as_root:
        _call("unshare", spaces)
    else:
        user, group = os.geteuid(), os.getegid()
        _call("unshare", spaces | _NEWUSER)
        _map(proc, user, group)
    _call("mount", None, "/", None, _REC | _PRIVATE, None)
    _build(package)
    os.chdir(_ROOT)
    _call("pivot_root", ".", ".")
    _call("umount2", ".", _DETACH)
    os.chdir("/")
    _call("prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)
    if as_root:
        try:
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
        except OSError as error:
            raise OSError(error.errno, f"root may not become the user 'nobody': {error.strerror}") from error
        _call("prctl", _DUMPABLE, 1, 0, 0, 0)  # so that its children may write their own maps of users
    else:
        _drop_capabilities()
    return proc


def _build(package: Path) -> None:
    root = _ROOT
    sources = [(path, os.open(path, os.O_PATH)) for path in _visible()]  # before anything lies over them
    sources += [(Path("/dev", name), os.open(f"/dev/{name}", os.O_PATH)) for name in _DEVICES]
    _call("mount", "tmpfs", root, "tmpfs", _NOSUID, "size=1m,mode=0755")
    for path, source in sources:
        target = Path(f"{root}{path}")
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            target.mkdir(exist_ok=True)
        else:
            target.touch()
        _call("mount", f"/proc/self/fd/{source}", str(target), None, _BIND | _REC, None)
        device = path.parts[:2] == ("/", "dev")
        _set_read_only(str(target), _READ_ONLY & ~_NODEV if device else _READ_ONLY, recursive=True)
        os.close(source)
    for path in _hidden(package, [path for path, _ in sources]):
        if Path(f"{root}{path}").is_dir():
            _call("mount", "tmpfs", f"{root}{path}", "tmpfs", 1 | _NOSUID | _NODEV, "size=4k")
    folder = Path(f"{root}{FOLDER}")
    folder.mkdir()
    if not Path(root, "tmp").exists():
        Path(root, "tmp").symlink_to(FOLDER)
    Path(root, "etc").mkdir(exist_ok=True)
    Path(root, "etc", "passwd").write_text(f"nobody:x:{_NOBODY}:{_NOBODY}::{FOLDER}:/bin/false\n")
    _call("mount", "tmpfs", str(folder), "tmpfs", _NOSUID | _NODEV, "size=16m,mode=0777")
    _set_read_only(root, _READ_ONLY, recursive=False)


def _visible() -> list[Path]:
    """Python, its packages and the system's libraries: folders, none of them inside another, and one file.

    Of a prefix only ``lib``: an environment may have been made in a folder with other things in it.
    """
    packages = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    standard = sysconfig.get_path("stdlib")
    own = sys.base_prefix not in ("/", "/usr", "/usr/local")
    libraries = [f"{sys.base_prefix}/lib"] if own else []
    found = {Path(path) for path in (*_SYSTEM, *libraries, *packages, standard)}
    found |= {path.resolve() for path in found}
    return sorted(path for path in found if path.exists() and not found & set(path.parents))


def _hidden(package: Path, visible: list[Path]) -> set[Path]:
    """All copies of this package: with one may lie the cases, with what a plot is compared with."""
    places = (package.name, f"*-packages/{package.name}", f"python*/*-packages/{package.name}")
    found = {package, *(copy for path in visible for place in places for copy in path.glob(place))}
    return found | {path.resolve() for path in found}


def _set_read_only(path: str, attributes: int, *, recursive: bool) -> None:
    flags = 0x8000 if recursive else 0
    # The kernel reads the structure through a pointer; a bytes object is one.
    _call("mount_setattr", -100, path, flags, struct.pack("=QQQQ", attributes, 0, 0, 0), 32)


def _map(proc: int, user: int, group: int) -> None:
    """Be 'nobody' in the namespace of users just entered; ``user``, ``group``: what we are outside of it."""
    maps = {"setgroups": "deny", "uid_map": f"{_NOBODY} {user} 1", "gid_map": f"{_NOBODY} {group} 1"}
    for name, text in maps.items():
        file = os.open(f"self/{name}", os.O_WRONLY, dir_fd=proc)
        try:
            os.write(file, text.encode())
        finally:
            os.close(file)


# A task


def fork() -> int:
    """As ``os.fork``, but the child is the first process of namespaces of its own."""
    flags = _NEWUSER | _NEWPID | _NEWNET | _NEWNS | _NEWIPC | _NEWUTS | signal.SIGCHLD
    ctypes.pythonapi.PyOS_BeforeFork()
    try:
        child = _call("clone", flags, 0, 0, 0, 0)
    except OSError:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
        raise
    if child:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
    else:
        ctypes.pythonapi.PyOS_AfterFork_Child()
    return child


def confine(proc: int, disk_mb: int) -> None:
    """Take from this process, just forked, all it does not need, for good. Closes ``proc``."""
    _call("prctl", _PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    _map(proc, _NOBODY, _NOBODY)
    os.close(proc)
    _call("mount", "tmpfs", FOLDER, "tmpfs", _NOSUID | _NODEV, f"size={disk_mb}m,nr_inodes=4096,mode=0700")
    os.chdir(FOLDER)
    _drop_capabilities()
    _refuse_calls()


def limit(*, memory: int, cpu_s: float, disk_mb: int, processes: int | None) -> None:
    """Limits that the kernel keeps for each process; ``memory`` in bytes of address space."""
    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CPU: int(cpu_s) + 2,  # the sum over all processes is watched from outside
        resource.RLIMIT_FSIZE: disk_mb << 20,
        resource.RLIMIT_NOFILE: 128,
        resource.RLIMIT_CORE: 0,
        **({resource.RLIMIT_NPROC: processes} if processes else {}),
    }
    for kind, value in limits.items():
        hard = resource.getrlimit(kind)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))


def _drop_capabilities() -> None:
    _call("capset", struct.pack("=Ii", 0x2008_0522, 0), bytes(24))


def _refuse_calls() -> None:
    """Install the filter. Refused too: new namespaces by clone, memory that is shared and anonymous (it may
    be in no process's count), and not to die with the warm parent.
    """
    instructions = list(_filter())
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *one) for one in instructions))
    program = struct.pack("@HP", len(instructions), ctypes.addressof(code))
    _call("prctl", _SECCOMP, 2, program, 0, 0)


def _filter() -> Iterator[tuple[int, int, int, int]]:
    """The filter in classic BPF: (operation, jump if true, jump if false, operand)."""
    load, equal, at_least, any_bit, mask, give = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
    kill, allow, refuse = 0x8000_0000, 0x7FFF_0000, 0x0005_0000 | errno.EPERM

    def argument(index: int) -> tuple[int, int, int, int]:
        return (load, 0, 0, 16 + 8 * index)

    yield (load, 0, 0, 4)
    yield (equal, 1, 0, _MACHINES[platform.machine()][1])
    yield (give, 0, 0, kill)
    yield (load, 0, 0, 0)
    yield (at_least, 0, 1, 0x4000_0000)  # the other numbers of x86-64
    yield (give, 0, 0, kill)
    for name in _REFUSED:
        yield (equal, 0, 1, _number(name))
        yield (give, 0, 0, refuse)
    yield (equal, 0, 1, _number("clone3"))  # its flags cannot be read here; without it clone is used
    yield (give, 0, 0, 0x0005_0000 | errno.ENOSYS)
    yield (equal, 0, 4, _number("clone"))
    yield argument(0)
    yield (any_bit, 0, 1, _ANY_NAMESPACE)
    yield (give, 0, 0, refuse)
    yield (give, 0, 0, allow)
    yield (equal, 0, 4, _number("prctl"))
    yield argument(0)
    yield (equal, 0, 1, _PDEATHSIG)
    yield (give, 0, 0, refuse)
    yield (give, 0, 0, allow)
    yield (equal, 0, 4, _number("mmap"))
    yield argument(3)
    yield (mask, 0, 0, 0x21)
    yield (equal, 0, 1, 0x21)
    yield (give, 0, 0, refuse)
    yield (give, 0, 0, allow)
