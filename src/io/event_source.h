#pragma once

#include <cstdint>

namespace sorrel::io {

// What an epoll entry points to.
class EventSource {
 public:
  virtual void on_event(uint32_t events) = 0;
  bool served_first = false;  // before the others of its turn

 protected:
  ~EventSource() = default;
};

}  // namespace sorrel::io
