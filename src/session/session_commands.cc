#include "session/session_commands.h"

#include "session/client_commands.h"
#include "session/connection_commands.h"
#include "session/monitor.h"
#include "session/pubsub_commands.h"
#include "session/tracking_commands.h"

namespace sorrel {

std::vector<Binding> session_bindings(SessionWorld& world) {
  std::vector<Binding> bindings;
  for (const auto family : {connection_bindings(), client_bindings(), monitor_bindings(),
                            pubsub_bindings(), tracking_bindings()}) {
    for (Binding binding : family) {
      binding.context = &world;
      bindings.push_back(binding);
    }
  }
  return bindings;
}

}  // namespace sorrel
