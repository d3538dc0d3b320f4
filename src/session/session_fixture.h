#pragma once

#include <gtest/gtest.h>

#include "session/test_server.h"

namespace sorrel::testing {

class SessionTest : public ::testing::Test, protected TestServer {};

}  // namespace sorrel::testing
