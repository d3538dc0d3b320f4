#!/usr/bin/python3
"""Runs a command under what Debian's redis-server.service allows, without systemd.

    tests/process/sandbox.py COMMAND [ARGUMENTS...]

The system call filter is the unit's: `@system-service` without `@privileged` and `@resources`; everything else kills
the process with SIGSYS. Besides: MemoryDenyWriteExecute, RestrictAddressFamilies, RestrictSUIDSGID, NoNewPrivileges,
UMask and, when started by root, another user without capabilities. The filter is installed by libseccomp.
"""

import ctypes
import errno
import mmap
import os
import socket
import stat
import sys

KILL_PROCESS = 0x80000000
ERRNO = 0x00050000
ALLOW = 0x7FFF0000
MASKED_EQUAL, GREATER = 7, 6  # how an argument is compared
NOBODY = 65534

# `systemd-analyze syscall-filter` of systemd 252, groups taken apart; calls that x86_64 lacks are left out.
ALLOWED = """
    accept accept4 access add_key alarm arch_prctl bind brk capget chdir chmod clock_getres clock_gettime
    clock_nanosleep clone clone3 close close_range connect copy_file_range creat dup dup2 dup3 epoll_create
    epoll_create1 epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 execve
    execveat exit exit_group faccessat faccessat2 fadvise64 fallocate fchdir fchmod fchmodat fchmodat2 fcntl
    fdatasync fgetxattr flistxattr flock fork fremovexattr fsetxattr fstat fstatfs fsync ftruncate futex futex_waitv
    futimesat get_mempolicy get_robust_list get_thread_area getcpu getcwd getdents getdents64 getegid geteuid getgid
    getgroups getitimer getpeername getpgid getpgrp getpid getppid getpriority getrandom getresgid getresuid
    getrlimit getrusage getsid getsockname getsockopt gettid gettimeofday getuid getxattr inotify_add_watch
    inotify_init inotify_init1 inotify_rm_watch io_cancel io_destroy io_getevents io_pgetevents io_setup io_submit
    io_uring_enter io_uring_register io_uring_setup ioctl ioprio_get kcmp keyctl kill lgetxattr link linkat listen
    listxattr llistxattr lremovexattr lseek lsetxattr lstat madvise membarrier memfd_create mkdir mkdirat mknod
    mknodat mlock mlock2 mlockall mmap mprotect mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedsend
    mq_unlink mremap msgctl msgget msgrcv msgsnd msync munlock munlockall munmap name_to_handle_at nanosleep
    newfstatat open openat openat2 pause personality pidfd_open pidfd_send_signal pipe pipe2 poll ppoll prctl
    pread64 preadv preadv2 prlimit64 process_madvise process_vm_readv process_vm_writev pselect6 pwrite64 pwritev
    pwritev2 read readahead readlink readlinkat readv recvfrom recvmmsg recvmsg remap_file_pages removexattr rename
    renameat renameat2 request_key restart_syscall rmdir rseq rt_sigaction rt_sigpending rt_sigprocmask
    rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_tgsigqueueinfo sched_get_priority_max
    sched_get_priority_min sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
    sched_yield select semctl semget semop semtimedop sendfile sendmmsg sendmsg sendto set_robust_list
    set_thread_area set_tid_address setfsgid setgid setitimer setns setpgid setregid setresgid setsid setsockopt
    setxattr shmat shmctl shmdt shmget shutdown sigaltstack signalfd signalfd4 socket socketpair splice stat statfs
    statx symlink symlinkat sync sync_file_range syncfs sysinfo tee tgkill time timer_create timer_delete
    timer_getoverrun timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime times tkill truncate
    umask uname unlink unlinkat unshare userfaultfd utime utimensat utimes vfork vmsplice wait4 waitid write writev
""".split()

EXECUTE = mmap.PROT_EXEC
# Call, number of the argument, comparison, two numbers for it, error.
FORBIDDEN = (
    ("mmap", 2, MASKED_EQUAL, mmap.PROT_EXEC | mmap.PROT_WRITE, mmap.PROT_EXEC | mmap.PROT_WRITE, errno.EPERM),
    ("mprotect", 2, MASKED_EQUAL, EXECUTE, EXECUTE, errno.EPERM),
    ("pkey_mprotect", 2, MASKED_EQUAL, EXECUTE, EXECUTE, errno.EPERM),
    ("socket", 0, GREATER, socket.AF_INET6, 0, errno.EAFNOSUPPORT),
    *((call, argument, MASKED_EQUAL, bit, bit, errno.EPERM)
      for call, argument in (("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("mkdir", 1), ("mkdirat", 2))
      for bit in (stat.S_ISUID, stat.S_ISGID)),
)


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("how", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


class Filter:
    """One seccomp filter; of several that are loaded the strictest answer counts."""

    def __init__(self, otherwise):
        self.library = ctypes.CDLL("libseccomp.so.2")
        self.library.seccomp_init.restype = ctypes.c_void_p
        self.library.seccomp_init.argtypes = [ctypes.c_uint32]
        self.library.seccomp_rule_add_array.argtypes = [
            ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]
        self.library.seccomp_load.argtypes = [ctypes.c_void_p]
        self.context = self.library.seccomp_init(otherwise)

    def add(self, action, call, *comparisons):
        number = self.library.seccomp_syscall_resolve_name(call.encode())
        if number < 0:
            raise OSError(f"no system call {call}")
        array = (Comparison * len(comparisons))(*comparisons)
        self.check(self.library.seccomp_rule_add_array(self.context, action, number, len(comparisons), array))

    def load(self):
        self.check(self.library.seccomp_load(self.context))

    @staticmethod
    def check(result):
        if result < 0:
            raise OSError(-result, os.strerror(-result))


def restrict():
    forbid = Filter(ALLOW)
    for call, argument, how, a, b, error in FORBIDDEN:
        forbid.add(ERRNO | error, call, Comparison(argument, how, a, b))
    forbid.load()
    allow = Filter(KILL_PROCESS)
    for call in ALLOWED:
        allow.add(ALLOW, call)
    allow.load()


def main():
    os.umask(0o007)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    restrict()
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
