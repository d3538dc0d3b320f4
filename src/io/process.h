#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

// Process-level system calls: daemonizing, signals, random bytes, memory, CPU and resource limits.
namespace sorrel::io {

int process_id();

// Goes to the background: a child continues in a session of its own, with its standard streams on
// /dev/null; the parent exits with code 0. Call this before any thread is created, since only the
// calling thread survives.
Status daemonize();

// Ignores SIGHUP and SIGPIPE: a closed terminal or peer must not end the server. Broken pipes are
// reported by the failing calls (EPIPE).
void ignore_hangups();

// For programs that read mapped files: handles the SIGBUS of a file truncated meanwhile with a
// message on standard error and exit code 1.
void end_on_cut_files();

// Blocks SIGTERM and SIGINT in the calling thread and every thread that it creates afterwards; a
// loop that watches signals then receives them. Call this before the first thread is created: an
// unblocked signal would kill the process.
void hold_termination_signals();

// Is a blocked SIGINT pending?
bool is_interrupt_pending();
// Is a blocked SIGINT or SIGTERM pending?
bool is_termination_pending();
// Exits immediately (_exit): no flush, no exit handlers.
[[noreturn]] void end_process(int code);

// From the kernel's generator; suitable for keys and salts.
Status random_bytes(std::span<uint8_t> out);
Result<std::string> random_hex(size_t digits);

// Resident set size. 0 when unknown.
uint64_t resident_bytes();
uint64_t total_system_memory();
// Available memory of the system, or of the control group of the process if that is limited (cgroup
// v2, as seen in a container). 0 when unknown.
uint64_t available_memory();

struct CpuTimes {
  int64_t user_us = 0;
  int64_t system_us = 0;
};
enum class CpuOf : uint8_t { kProcess, kChildren, kThisThread };
CpuTimes cpu_times(CpuOf whose);

struct DescriptorLimit {
  uint64_t before = 0;  // 0: unknown, limit unchanged
  uint64_t now = 0;     // never less than before
  std::string reason;   // system message when it is less than wanted; else empty
};
// Raises the descriptor limit to at least `wanted`, or as far as permitted.
DescriptorLimit raise_descriptor_limit(uint64_t wanted);

// Disables transparent huge pages, with which a write to a page shared by fork copies 2 MB. Pages
// requested with madvise() stay allowed where the kernel distinguishes them. Returns success.
bool disable_huge_pages();
// oom_score_adj: preference of the kernel's OOM killer for this process, -1000 (never) to 1000.
// Lowering needs privilege.
Result<int> oom_score_adj();
Status set_oom_score_adj(int score);

// Does a seccomp filter apply to this process? A forbidden call may kill the process, and the
// filter cannot be queried: Debian's unit for Redis kills on setting priorities and owners.
// Optional calls of that kind are skipped when this is true.
bool system_calls_are_filtered();

// Lowers the priority of the calling thread by `steps` of nice(2) and shortens its time slices,
// where the kernel supports that. Irreversible without privilege. No effect where system calls are
// filtered.
void give_way(int steps);
// Lowers the priority only.
void lower_priority(int steps);

std::string os_name();  // "Linux 6.1.0 x86_64"

// Name of the calling thread in `top -H` and debuggers; truncated to 15 bytes.
void name_this_thread(const std::string& name);

}  // namespace sorrel::io
