// Contract tests of Stream beyond send and receive: offers, shared bytes, handler changes and
// detaching, on the epoll loop and the fake loop.

#include <algorithm>
#include <string>

#include "io/test_connect.h"

namespace sorrel::io {
namespace {

class StreamTest : public ConnectTest {
 public:
  // Reads nothing until `reading_` is set.
  void make_slow_pair(TestEnd& end) {
    accept_hook_ = [](TestEnd& peer) { peer.stream->pause_reading(true); };
    make_pair(end);
  }
  // More than the kernel accepts for a peer that reads nothing.
  size_t much() const { return fake() ? 300'000 : 8'000'000; }
  TestEnd& peer() { return *accepted_.back(); }
  static std::string long_text(size_t size) {
    std::string text;
    while (text.size() < size) text += std::to_string(text.size()) + ",";
    text.resize(size);
    return text;
  }
};

INSTANTIATE_TEST_SUITE_P(Loops, StreamTest, ::testing::Values(LoopKind::kFake, LoopKind::kEpoll),
                         [](const auto& one) {
                           return one.param == LoopKind::kFake ? "Fake" : "Epoll";
                         });

TEST_P(StreamTest, OffersKeepNothing) {
  for (const bool secret : {false, true}) {
    if (secret) serve_tls({.common_name = "any"});
    TestEnd end;
    make_slow_pair(end);
    const std::string text = long_text(much());
    size_t sent = end.stream->offer(text);
    EXPECT_LT(sent, text.size());
    EXPECT_LE(end.stream->pending_bytes(), secret ? 70'000u : 0u);
    EXPECT_EQ(end.stream->offer("x"), 0u);
    EXPECT_EQ(end.drained, 0);
    end.drained_hook = [&] { sent += end.stream->offer(std::string_view(text).substr(sent)); };
    peer().stream->pause_reading(false);
    ASSERT_TRUE(run_until([&] { return peer().text.size() == text.size(); }));
    EXPECT_TRUE(peer().text == text);
    EXPECT_GT(end.drained, 0);
    EXPECT_EQ(sent, text.size());
    end.stream->close(false);
    ASSERT_TRUE(run_until([&] { return end.closes == 1; }));
  }
}

TEST_P(StreamTest, OffersWaitForPendingOutput) {
  TestEnd end;
  make_slow_pair(end);
  const std::string text = long_text(much());
  end.stream->send(text);
  EXPECT_GT(end.stream->pending_bytes(), 0u);
  EXPECT_EQ(end.stream->offer("tail"), 0u);
  size_t taken = 0;
  end.drained_hook = [&] {
    if (taken == 0) taken = end.stream->offer("tail");
  };
  peer().stream->pause_reading(false);
  ASSERT_TRUE(run_until([&] { return peer().text.size() == text.size() + 4; }));
  EXPECT_TRUE(peer().text.ends_with("tail"));
}

TEST_P(StreamTest, OffersDuringTheHandshakeWait) {
  serve_tls({.common_name = "any"});
  size_t taken = 0;
  accept_hook_ = [&](TestEnd& made) {
    EXPECT_EQ(made.stream->offer("welcome"), 0u);
    made.drained_hook = [&] {
      if (taken == 0) taken = made.stream->offer("welcome");
    };
  };
  TestEnd end;
  make_pair(end);
  ASSERT_TRUE(run_until([&] { return end.text == "welcome"; }));
}

TEST_P(StreamTest, OffersToABrokenStreamTakeNothing) {
  TestEnd end;
  make_pair(end);
  Stream* const stream = end.stream;
  stream->close(false);
  EXPECT_EQ(stream->offer("x"), 0u);
  ASSERT_TRUE(run_until([&] { return end.closes == 1; }));
}

TEST_P(StreamTest, SharedBytesGoToManyPeers) {
  const std::string text = long_text(much());
  SharedBytes bytes = SharedBytes::copy_of(text);
  std::vector<std::unique_ptr<TestEnd>> ends;
  for (int i = 0; i < 3; i++) {
    ends.push_back(std::make_unique<TestEnd>());
    make_slow_pair(*ends.back());
  }
  for (const auto& end : ends) {
    end->stream->send(bytes);
    EXPECT_GT(end->stream->pending_bytes(), 0u);
    EXPECT_LE(end->stream->pending_bytes(), text.size());
    EXPECT_GE(end->stream->buffer_bytes(), end->stream->pending_bytes());
    end->stream->send("tail");
  }
  if (!fake()) {
    EXPECT_EQ(bytes.owners(), 4u);
  }
  const SharedBytes last = std::exchange(bytes, {});
  // One peer closes; the others get all bytes.
  ends[0]->stream->close(false);
  for (const auto& end : accepted_) end->stream->pause_reading(false);
  ASSERT_TRUE(run_until([&] {
    return accepted_[1]->text.size() == text.size() + 4 &&
           accepted_[2]->text.size() == text.size() + 4;
  }));
  EXPECT_TRUE(accepted_[1]->text == text + "tail");
  EXPECT_TRUE(accepted_[2]->text == text + "tail");
  ASSERT_TRUE(run_until([&] { return ends[0]->closes == 1; }));
  EXPECT_EQ(last.owners(), 1u);
}

TEST_P(StreamTest, SharedBytesMixWithOthersInOrder) {
  TestEnd end;
  make_slow_pair(end);
  std::string expected = long_text(much());
  end.stream->send(expected);
  const SharedBytes large = SharedBytes::copy_of(long_text(100'000));
  const SharedBytes small = SharedBytes::copy_of("small");
  for (int i = 0; i < 20; i++) {
    end.stream->send(large);
    end.stream->send(small);
    end.stream->send("between");
    expected += std::string(large.view()) + "smallbetween";
  }
  end.stream->send(SharedBytes());
  peer().stream->pause_reading(false);
  ASSERT_TRUE(run_until([&] { return peer().text.size() == expected.size(); }));
  EXPECT_TRUE(peer().text == expected);
  EXPECT_EQ(large.owners(), 1u);
  EXPECT_EQ(small.owners(), 1u);
}

TEST_P(StreamTest, AnotherHandlerTakesOver) {
  for (const bool secret : {false, true}) {
    if (secret) serve_tls({.common_name = "any"});
    TestEnd end;
    make_pair(end);
    TestEnd next;
    next.stream = peer().stream;
    peer().data_hook = [&](std::string_view) { peer().stream->set_handler(next); };
    end.stream->send("one");
    ASSERT_TRUE(run_until([&] { return peer().text == "one"; }));
    end.stream->send("two");
    ASSERT_TRUE(run_until([&] { return next.text == "two"; }));
    end.stream->close(true);
    ASSERT_TRUE(run_until([&] { return next.closes == 1 && end.closes == 1; }));
    EXPECT_EQ(peer().closes, 0);
  }
}

TEST_P(StreamTest, AnotherLoopTakesOver) {
  second_ = make_loop();
  for (const bool secret : {false, true}) {
    if (secret) serve_tls({.common_name = "any"});
    TestEnd end;
    make_slow_pair(end);
    TestEnd& first = peer();
    first.stream->pause_reading(false);
    // Detached from inside on_data, with unused input, more input to come, and output that the
    // other end has not read.
    const std::string text = long_text(fake() ? 300'000 : 3'000'000);
    const std::string answer = long_text(much());
    std::unique_ptr<DetachedStream> left;
    first.data_hook = [&](std::string_view bytes) {
      end.stream->pause_reading(true);
      first.stream->send(answer);
      first.text = bytes.substr(0, 1);
      left = first.stream->detach(bytes.substr(1));
      EXPECT_EQ(first.stream->detach({}), nullptr);
    };
    end.stream->send(text);
    ASSERT_TRUE(run_until([&] { return left != nullptr; }));
    for (int i = 0; i < 5; i++) iterate();
    EXPECT_EQ(first.closes, 0);
    TestEnd next;
    next.text = first.text;
    next.stream = second_->adopt(std::move(left), next);
    ASSERT_NE(next.stream, nullptr);
    EXPECT_GT(next.stream->pending_bytes(), 0u);
    EXPECT_EQ(next.stream->is_encrypted(), secret);
    end.stream->pause_reading(false);
    ASSERT_TRUE(run_until(
        [&] { return next.text.size() == text.size() && end.text.size() == answer.size(); }));
    EXPECT_TRUE(next.text == text);
    EXPECT_TRUE(end.text == answer);
    EXPECT_EQ(first.text.size(), 1u);
    next.stream->close(true);
    ASSERT_TRUE(run_until([&] { return end.closes == 1 && next.closes == 1; }));
    EXPECT_EQ(first.closes, 0);
  }
}

TEST_P(StreamTest, UnreadBytesWaitForAPausedHandler) {
  second_ = make_loop();
  for (const bool secret : {false, true}) {
    if (secret) serve_tls({.common_name = "any"});
    TestEnd end;
    make_open_pair(end);
    auto left = peer().stream->detach("unread ");
    end.stream->send("bytes");
    end.stream->close(true);
    TestEnd next;
    next.stream = second_->adopt(std::move(left), next);
    next.stream->pause_reading(true);
    for (int i = 0; i < 20; i++) iterate();
    EXPECT_EQ(next.text, "");
    EXPECT_EQ(next.closes, 0);
    next.stream->pause_reading(false);
    ASSERT_TRUE(run_until([&] { return next.closes == 1; }));
    EXPECT_EQ(next.text, "unread bytes");
  }
}

TEST_P(StreamTest, ADetachedStreamThatNoLoopTakesIsClosed) {
  for (const bool secret : {false, true}) {
    if (secret) serve_tls({.common_name = "any"});
    TestEnd end;
    make_open_pair(end);
    peer().stream->detach("unread");
    ASSERT_TRUE(run_until([&] { return end.closes == 1; }));
    EXPECT_EQ(peer().closes, 0);
  }
}

TEST_P(StreamTest, AHandshakeIsNotDetached) {
  serve_tls({.common_name = "any"});
  bool stayed = false;
  accept_hook_ = [&](TestEnd& made) { stayed = made.stream->detach({}) == nullptr; };
  TestEnd end;
  make_pair(end);
  EXPECT_TRUE(stayed);
}

}  // namespace
}  // namespace sorrel::io
