#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "session/pause.h"
#include "session/test_server.h"

namespace sorrel::testing {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

bool has_web_request(std::string_view bytes) {
  const std::string text = lower_copy(bytes);
  return text.find("post") != std::string::npos || text.find("host:") != std::string::npos;
}

// What one client is answered when its bytes come in pieces of this size.
std::string replies_to(std::string_view bytes, size_t piece, bool with_password) {
  TestServer server;
  if (with_password) server.require_password("p");
  auto client = server.connect();
  for (size_t at = 0; at < bytes.size(); at += piece) client->push(bytes.substr(at, piece));
  server.run();
  // Every pause ends; time stands still, since MONITOR would show it.
  while (server.host().suspended_count() > 0) {
    end_pause(server.sessions);
    server.run();
  }
  std::string replies = client->take();
  // A client that leaves takes everything along.
  client->close();
  server.run();
  require(server.host().session_count() == 0);
  require(server.host().suspended_count() == 0);
  require(server.host().monitor_count() == 0);
  require(server.sessions.connected.load() == 0);
  return replies;
}

}  // namespace
}  // namespace sorrel::testing

// The first byte chooses how the rest is cut and whether there is a password. However it is cut,
// the replies are the same.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sorrel::testing;
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t piece = std::max<size_t>(1, data[0] & 31);
  const bool with_password = (data[0] & 32) != 0;
  const std::string whole = replies_to(bytes, bytes.size(), with_password);
  const std::string pieces = replies_to(bytes, piece, with_password);
  // CLIENT LIST shows how much was read at once.
  if (whole.find(" qbuf=") != std::string::npos) return 0;
  // A web request is cut off together with the replies of its turn.
  const bool cut_off = whole.size() < pieces.size() && has_web_request(bytes);
  require(cut_off ? pieces.starts_with(whole) : whole == pieces);
  return 0;
}
