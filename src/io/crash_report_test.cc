#include "io/crash_report.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <string>

#include "base/sanitizer.h"

#include "io/own_symbols.h"
#include "io/watchdog.h"

namespace sorrel::io {
namespace {

// Of fixed size, since it is written in signal handlers.
class FixedLogger final : public Logger {
 public:
  void write(LogLevel, std::string_view) override {}
  void write_raw(std::string_view more) override {
    const size_t size = size_.load();
    const size_t taken = std::min(more.size(), bytes_.size() - size);
    std::copy_n(more.begin(), taken, bytes_.begin() + static_cast<ptrdiff_t>(size));
    size_ = size + taken;
  }
  std::string_view text() const { return {bytes_.data(), size_.load()}; }
  bool says(std::string_view what) const { return text().find(what) != std::string_view::npos; }
  void clear() { size_ = 0; }

 private:
  std::array<char, 256 << 10> bytes_{};
  std::atomic<size_t> size_{0};
};

class StandardErrorLogger final : public Logger {
 public:
  void write(LogLevel, std::string_view) override {}
  void write_raw(std::string_view more) override { fwrite(more.data(), 1, more.size(), stderr); }
};

class Witness final : public CrashWitness {
 public:
  void tell_activity(int thread, CrashText& out) override {
    out.line("activity {}", thread == thread_id());
  }
  void tell_more(int, CrashText& out) override {
    out.line("more");
    if (crashes_again) std::raise(SIGABRT);
  }
  bool crashes_again = false;
};

TEST(CrashText, LongLinesAreCut) {
  FixedLogger log;
  CrashText out(log);
  out.line("{} {}", 1, "two");
  EXPECT_EQ(log.text(), "1 two\n");
  log.clear();
  out.line("{}", std::string(100'000, 'x'));
  EXPECT_EQ(log.text().size(), 1025u);
  EXPECT_EQ(log.text().back(), '\n');
}

[[gnu::noinline]] void function_to_be_found() {
  asm volatile("");
}

TEST(OwnSymbols, FindsFunctions) {
  const OwnSymbols symbols;
  const auto place = symbols.find(reinterpret_cast<uint64_t>(&function_to_be_found));
  EXPECT_NE(place.name.find("function_to_be_found"), std::string_view::npos);
  EXPECT_EQ(place.offset, 0u);
  const auto nowhere = symbols.find(symbols.base());
  EXPECT_EQ(nowhere.name, "");
}

void crash_with_report(bool twice) {
  StandardErrorLogger log;
  const SignalStack stack;
  Witness witness;
  witness.crashes_again = twice;
  CrashReport report(log, "Test 1.0", witness);
  report.enable(true);
  std::raise(SIGABRT);
}

TEST(CrashReportDeathTest, ReportAndThenTheSignal) {
  EXPECT_EXIT(crash_with_report(false), ::testing::KilledBySignal(SIGABRT),
              "REDIS BUG REPORT START.*Test 1.0 crashed by signal: 6.*STACK "
              "TRACE.*REGISTERS.*activity true.*more.*REDIS BUG REPORT END");
}

TEST(CrashReportDeathTest, ASecondCrashEndsTheReport) {
#if SORREL_TSAN
  GTEST_SKIP() << "the sanitizer holds signals back while a handler runs";
#endif
  EXPECT_EXIT(crash_with_report(true), ::testing::KilledBySignal(SIGABRT),
              "more.*a second crash, by signal 6.*REDIS BUG REPORT END");
}

TEST(CrashReport, OffAndGoneTheSignalsAreAsBefore) {
  struct sigaction action {};
  {
    FixedLogger log;
    Witness witness;
    CrashReport report(log, "Test", witness);
    report.enable(true);
    sigaction(SIGABRT, nullptr, &action);
    EXPECT_NE(action.sa_handler, SIG_DFL);
    report.enable(false);
    sigaction(SIGABRT, nullptr, &action);
    EXPECT_EQ(action.sa_handler, SIG_DFL);
    report.enable(true);
  }
  sigaction(SIGABRT, nullptr, &action);
  EXPECT_EQ(action.sa_handler, SIG_DFL);
}

TEST(Watchdog, SignalsAThreadThatIsStuck) {
  const SignalStack stack;
  FixedLogger log;
  Witness witness;
  CrashReport report(log, "Test", witness);
  Watchdog dog;
  dog.set_thread(thread_id());
  dog.set_period_ms(20);
  // The signal is sent to this thread and ends its sleep.
  for (int i = 0; i < 1000 && !log.says("--------\n"); i++) usleep(10'000);
  EXPECT_TRUE(log.says("--- WATCHDOG TIMER EXPIRED ---"));
  EXPECT_TRUE(log.says("STACK TRACE"));
  EXPECT_TRUE(log.says("activity true"));
  dog.set_period_ms(0);
}

}  // namespace
}  // namespace sorrel::io
