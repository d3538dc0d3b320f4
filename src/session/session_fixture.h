#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "session/test_server.h"

namespace sorrel::testing {

// As it stands in a reply.
inline std::string bulk(std::string_view text) {
  return fmt::format("${}\r\n{}\r\n", text.size(), text);
}

class SessionTest : public ::testing::Test, protected TestServer {};

}  // namespace sorrel::testing
