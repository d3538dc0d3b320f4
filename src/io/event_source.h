#pragma once

#include <cstdint>

namespace sorrel::io {

// Target of an epoll registration (epoll_event.data.ptr).
class EventSource {
 public:
  virtual void on_event(uint32_t events) = 0;
  bool served_first = false;  // prioritised within a loop iteration

 protected:
  ~EventSource() = default;
};

}  // namespace sorrel::io
