#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

// What a process asks of its system about itself.
namespace sorrel::io {

int process_id();

// Goes to the background: a child lives on in a session of its own, with its standard streams on
// /dev/null; the parent ends with code 0 and does not return. Call it before any thread is made,
// since only the calling one survives.
Status daemonize();

// A terminal that hangs up and a peer that closes must not end the server. Broken pipes show as
// errors of the calls that hit them.
void ignore_hangups();

// For programs that read mapped files: when somebody cuts the file meanwhile, the kernel has
// nothing to show and sends SIGBUS. Says so on standard error and ends the process with code 1.
void end_on_cut_files();

// Holds SIGTERM and SIGINT back from the calling thread and every thread it makes from now on; a
// loop that watches signals then gets them. Call it before the first thread is made: a thread
// without it would die of the signal.
void hold_termination_signals();

// Is a SIGINT held back that nobody has been told of yet?
bool is_interrupt_pending();
// The same for any of the two.
bool is_termination_pending();
// Ends the process here and now: nothing is flushed, nobody is asked.
[[noreturn]] void end_process(int code);

// From the kernel's generator; fit for keys and salts.
Status random_bytes(std::span<uint8_t> out);
Result<std::string> random_hex(size_t digits);

// Memory that the process occupies now. 0 when unknown.
uint64_t resident_bytes();
uint64_t total_system_memory();
// What can still be had of it: by the system, or by the control group that the process is in, if
// that sets a limit (version 2 of them, as a container sees its own). 0 when unknown.
uint64_t available_memory();

struct CpuTimes {
  int64_t user_us = 0;
  int64_t system_us = 0;
};
enum class CpuOf : uint8_t { kProcess, kChildren, kThisThread };
CpuTimes cpu_times(CpuOf whose);

struct DescriptorLimit {
  uint64_t before = 0;  // 0: the system does not say; then nothing was changed
  uint64_t now = 0;     // never less than before
  std::string reason;   // why it is less than wanted, in the system's words; empty when it is not
};
// Lets the process have at least `wanted` descriptors, or as many as it may.
DescriptorLimit raise_descriptor_limit(uint64_t wanted);

// Huge pages make every write of a forked or snapshotted page copy 2 MB. Returns whether none come
// unasked from now on; where the system cannot tell those apart that are asked for, none at all.
bool disable_huge_pages();
// How eagerly the kernel ends this process when memory is out, -1000 (never) to 1000. Lowering it
// needs privilege.
Result<int> oom_score_adj();
Status set_oom_score_adj(int score);

// Is there a seccomp filter on this process? A call that it forbids may kill, and no way exists to
// ask which ones it forbids: Debian's unit for Redis kills for setting priorities and owners. Calls
// of that kind, which the server can do without, are left out when this is true.
bool system_calls_are_filtered();

// The calling thread leaves the processor to others where they want it, by so many steps of nice(2)
// and in short turns, where the system knows how. For good: without privilege there is no way back.
// Does nothing where system calls are filtered.
void give_way(int steps);
// The same by the steps alone.
void lower_priority(int steps);

std::string os_name();  // "Linux 6.1.0 x86_64"

// How `top -H` and debuggers show the calling thread; the first 15 bytes count.
void name_this_thread(const std::string& name);

}  // namespace sorrel::io
