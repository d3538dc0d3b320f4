// A crashed process may hold any lock and have a broken heap. The signal handler therefore writes
// first what needs neither (signal, registers, stack trace), and then calls
// CrashWitness::tell_more(), which may hang or crash: an alarm and a nested fault both end the
// report, and the process dies of the original signal.

#include "io/crash_report.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "base/sanitizer.h"
#include "io/own_symbols.h"

namespace sorrel::io {

struct CrashReport::State {
  Logger& log;
  std::string title;
  CrashWitness& witness;
  std::atomic<int> reporting{0};  // id of the thread that writes the report
  std::atomic<int> signal{0};     // the signal of the report
  bool enabled = false;
};

namespace {

// Signal handlers take no context argument: they find the state here.
std::atomic<CrashReport::State*> the_state{nullptr};

#if SORREL_ASAN || SORREL_TSAN
constexpr int kCrashes[] = {SIGABRT};
#else
constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#endif

constexpr int kMostFrames = 100;
// Time limit for the part of the report that may hang.
constexpr unsigned kBoundSeconds = 10;
constexpr size_t kSignalStackBytes = 512 << 10;

uint64_t instruction_of(const void* context) {
#if defined(__x86_64__)
  return static_cast<uint64_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.pc;
#else
  (void)context;
  return 0;
#endif
}

void tell_registers(const void* context, CrashText& out) {
  out.line("\n------ REGISTERS ------");
#if defined(__x86_64__)
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  const auto value = [&](int name) { return static_cast<uint64_t>(registers[name]); };
  out.line("RAX:{:016x} RBX:{:016x} RCX:{:016x} RDX:{:016x}", value(REG_RAX), value(REG_RBX),
           value(REG_RCX), value(REG_RDX));
  out.line("RDI:{:016x} RSI:{:016x} RBP:{:016x} RSP:{:016x}", value(REG_RDI), value(REG_RSI),
           value(REG_RBP), value(REG_RSP));
  out.line("R8 :{:016x} R9 :{:016x} R10:{:016x} R11:{:016x}", value(REG_R8), value(REG_R9),
           value(REG_R10), value(REG_R11));
  out.line("R12:{:016x} R13:{:016x} R14:{:016x} R15:{:016x}", value(REG_R12), value(REG_R13),
           value(REG_R14), value(REG_R15));
  out.line("RIP:{:016x} EFL:{:016x} CSGSFS:{:016x}", value(REG_RIP), value(REG_EFL),
           value(REG_CSGSFS));
#elif defined(__aarch64__)
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
  for (int i = 0; i < 31; i++) out.line("X{:<2}:{:016x}", i, machine.regs[i]);
  out.line("SP :{:016x} PC :{:016x} PSTATE:{:016x}", machine.sp, machine.pc, machine.pstate);
#else
  (void)context;
  out.line("  of this processor are not known here");
#endif
}

void tell_frame(void* address, const OwnSymbols& symbols, CrashText& out) {
  const auto at = reinterpret_cast<uint64_t>(address);
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
    out.line("[{:#x}]", at);
    return;
  }
  const auto base = reinterpret_cast<uint64_t>(info.dli_fbase);
  if (base == symbols.base()) {
    const OwnSymbols::Place place = symbols.find(at);
    out.line("{}({}+{:#x}) [{:#x}] at {:#x}", info.dli_fname, place.name, place.offset, at,
             at - base);
  } else {
    out.line("{}({}) [{:#x}] at {:#x}", info.dli_fname,
             info.dli_sname == nullptr ? "" : info.dli_sname, at, at - base);
  }
}

void tell_stack(const void* context, CrashText& out) {
  out.line("\n------ STACK TRACE ------");
  const OwnSymbols symbols;
  if (const uint64_t instruction = instruction_of(context); instruction != 0) {
    out.line("EIP:");
    tell_frame(reinterpret_cast<void*>(instruction), symbols, out);
  }
  std::array<void*, kMostFrames> frames{};
  const int count = backtrace(frames.data(), kMostFrames);
  out.line("\nBacktrace:");
  for (int i = 0; i < count; i++) tell_frame(frames[static_cast<size_t>(i)], symbols, out);
}

void tell_signal(const CrashReport::State& state, int signal, const siginfo_t& info,
                 const void* context, CrashText& out) {
  out.raw("\n\n=== REDIS BUG REPORT START: Cut & paste starting from here ===\n");
  out.line("{} crashed by signal: {}, si_code: {}", state.title, signal, info.si_code);
  if (signal == SIGSEGV || signal == SIGBUS) {
    out.line("Accessing address: {}", fmt::ptr(info.si_addr));
  }
  // si_code <= 0: sent by a process, not raised by a fault.
  if (info.si_code <= 0 && info.si_pid != 0) {
    out.line("Killed by PID: {}, UID: {}", info.si_pid, info.si_uid);
  }
  if (const uint64_t instruction = instruction_of(context); instruction != 0) {
    out.line("Crashed running the instruction at: {:#x}", instruction);
  }
}

void take_default(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
}

// Restores the default actions and re-raises the signal, delivered when the handler returns.
void die_of(int signal) {
  for (const int crash : kCrashes) take_default(crash);
  take_default(SIGALRM);
  (void)syscall(SYS_tgkill, getpid(), thread_id(), signal);
}

void end_report(CrashText& out) {
  out.raw(
      "\n=== REDIS BUG REPORT END. Make sure to include from START to END. ===\n\n"
      "       This is a bug in Sorrel, or memory that does not hold what is put into it.\n"
      "       Please report it with everything between the two lines.\n\n");
}

// SIGALRM: the witness hangs, so the report ends here.
void on_bound(int) {
  if (const CrashReport::State* state = the_state.load()) {
    CrashText out(state->log);
    out.line("\n(the rest of the report took too long)");
    end_report(out);
    die_of(state->signal);
  }
}

void on_crash(int signal, siginfo_t* info, void* context) {
  CrashReport::State* state = the_state.load();
  if (state == nullptr) return die_of(signal);
  CrashText out(state->log);
  const int thread = thread_id();
  int reporter = 0;
  if (!state->reporting.compare_exchange_strong(reporter, thread)) {
    // Another thread is writing its report and will end the process.
    while (reporter != thread) pause();
    out.line("\n(a second crash, by signal {}, while the report was written)", signal);
    end_report(out);
    return die_of(signal);
  }
  state->signal = signal;
  tell_signal(*state, signal, *info, context, out);
  tell_stack(context, out);
  tell_registers(context, out);
  state->witness.tell_activity(thread, out);
  struct sigaction bound {};
  bound.sa_handler = on_bound;
  bound.sa_flags = SA_ONSTACK;
  sigaction(SIGALRM, &bound, nullptr);
  alarm(kBoundSeconds);
  state->witness.tell_more(thread, out);
  alarm(0);
  end_report(out);
  die_of(signal);
}

void on_alarm(int, siginfo_t* info, void* context) {
  const int before = errno;
  if (CrashReport::State* state = the_state.load()) {
    CrashText out(state->log);
    const bool is_watchdog = info->si_code == SI_TIMER;
    out.line("{}", is_watchdog ? "\n--- WATCHDOG TIMER EXPIRED ---" : "\n--- Received SIGALRM ---");
    tell_stack(context, out);
    state->witness.tell_activity(thread_id(), out);
    out.line("--------");
  }
  errno = before;
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | flags;
  sigaction(signal, &action, nullptr);
}

}  // namespace

CrashReport::CrashReport(Logger& log, std::string title, CrashWitness& witness)
    : state_(new State{.log = log, .title = std::move(title), .witness = witness}) {
  // The first backtrace() loads libgcc, which must not happen inside a signal handler.
  std::array<void*, 1> frame{};
  (void)backtrace(frame.data(), 1);
  the_state = state_.get();
  handle(SIGALRM, on_alarm, SA_RESTART);
}

CrashReport::~CrashReport() {
  enable(false);
  // A watchdog timer may still expire.
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  sigaction(SIGALRM, &action, nullptr);
  the_state = nullptr;
}

void CrashReport::enable(bool enabled) {
  if (enabled == state_->enabled) return;
  state_->enabled = enabled;
  for (const int signal : kCrashes) {
    if (enabled) {
      // SA_NODEFER: a fault while the report is written re-enters on_crash(), which ends the
      // report.
      handle(signal, on_crash, SA_NODEFER);
    } else {
      take_default(signal);
    }
  }
}

int thread_id() {
  return static_cast<int>(syscall(SYS_gettid));
}

SignalStack::SignalStack() {
  void* memory =
      mmap(nullptr, kSignalStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  memory_ = memory;
  const stack_t stack{.ss_sp = memory, .ss_flags = 0, .ss_size = kSignalStackBytes};
  sigaltstack(&stack, &before_);
}

SignalStack::~SignalStack() {
  if (memory_ == nullptr) return;
  sigaltstack(&before_, nullptr);
  munmap(memory_, kSignalStackBytes);
}

}  // namespace sorrel::io
