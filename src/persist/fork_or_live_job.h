#pragma once

#include <memory>

#include "persist/background_job.h"
#include "persist/child.h"
#include "persist/host.h"
#include "persist/live_snapshot.h"

namespace sorrel::persist {

// The background job of a server: a child made by fork(), or a live snapshot in slices between
// commands, as snapshot-method and the size of the keyspace decide.
class ForkOrLiveJob final : public BackgroundJob {
 public:
  // `host` outlives it.
  explicit ForkOrLiveJob(Host& host) : host_(host), child_(host.clock(), host.log()) {}
  // The host has a keyspace from now on.
  void connect();

  Status start(BackgroundWork work) override;
  ChildKind kind() const override { return is_live() ? live_->kind() : child_.kind(); }
  int pid() const override { return child_.pid(); }
  BackgroundFacts facts() const override;
  std::optional<ChildEnd> poll() override;
  ChildEnd stop() override;
  std::optional<ChildEnd> cancel() override;
  void on_rearrangement() override;

  Child& child() { return child_; }
  const Child& child() const { return child_; }
  // Null until connect().
  LiveSnapshot* live() { return live_.get(); }

 private:
  bool is_live() const { return live_ != nullptr && live_->active(); }
  bool may_go_live(const SnapshotOptions& options) const;

  Host& host_;
  Child child_;
  std::unique_ptr<LiveSnapshot> live_;
};

}  // namespace sorrel::persist
