#pragma once

#include <cstdint>

#include "base/result.h"
#include "persist/background_job.h"
#include "persist/current_aof.h"
#include "persist/host.h"
#include "persist/rewrite_backoff.h"
#include "persist/rewrite_machine.h"
#include "persist/snapshot_setup.h"

namespace sorrel::persist {

// What is known of rewrites, for INFO.
struct RewriteFacts {
  bool last_ok = true;
  int64_t last_took_s = -1;
  int64_t began_ms = 0;
  uint64_t rewrites = 0;
  uint64_t failures_in_a_row = 0;
  uint64_t last_cow_bytes = 0;
  uint64_t rewritten_size = 0;  // of the whole AOF after the last rewrite, or at the start
};

// Rewrites of the AOF: asked for, due, begun, done. Carries out the actions of RewriteMachine with
// files, the background job and the writer's thread, and brings their outcomes back to it.
//
// Thread rule: in an exclusive section. The writer's thread runs the tasks handed to it, which
// touch only the files, the writer and the log.
class AofRewrite {
 public:
  // All outlive it.
  AofRewrite(Host& host, BackgroundJob& job, CurrentAof& aof) : host_(host), job_(job), aof_(aof) {}

  // BGREWRITEAOF: begun, or put off until a background job may run. In a transaction it is
  // deferred, since half of one must not be written.
  enum class Asked : uint8_t { kStarted, kScheduled, kRunning, kFailed };
  Asked ask(bool deferred);
  // Precondition: none is active and no background job runs. An Error has been logged.
  Status start();
  // Begins one that is scheduled, or that the size of the AOF asks for. Ten times a second.
  void start_due();
  // The background job for a rewrite has ended.
  void finish(const ChildEnd& end);
  // Ends the one that is active; one whose base is on its way into a running AOF goes on.
  void cancel();
  // The AOF is turned off, and the writer is about to stop.
  void turn_off();

  bool active() const { return machine_.active(); }
  bool scheduled() const { return scheduled_; }
  void set_scheduled(bool scheduled) { scheduled_ = scheduled; }
  const RewriteFacts& facts() const { return facts_; }
  // How large the AOF was when it was loaded: growth counts from there.
  void set_rewritten_size(uint64_t bytes) { facts_.rewritten_size = bytes; }
  void reset_statistics() { facts_.rewrites = 0; }

 private:
  using Action = RewriteMachine::Action;

  Status start_parts();
  Status try_to_begin(Action action);
  void carry_out(const RewriteMachine::Actions& actions);
  void carry_out(Action action);
  Status open_first_increment();
  void switch_increment();
  Status start_base();
  void stop_base();
  void note_end(const ChildEnd& end);
  void remove_base();
  void put_base();
  Status put_base_now(const AofFiles::NewBase& base, const AofPlace& place);
  void on_base_put(uint64_t id, const Status& done);
  void drop_first_increment();
  void note_time();
  void note_success();
  bool must_wait();

  Host& host_;
  BackgroundJob& job_;
  CurrentAof& aof_;
  RewriteMachine machine_;
  RewriteBackoff backoff_;
  RewriteFacts facts_;
  bool scheduled_ = false;
  BaseForm form_;
  AofPlace place_;    // where the base is written
  int base_pid_ = 0;  // the process that wrote it
};

}  // namespace sorrel::persist
