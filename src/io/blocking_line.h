#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sorrel::io {

// A connection without an event loop: receive() and send() block the calling thread. For
// conversations that stop the server anyway, such as a debugger's. The descriptor is borrowed and
// must not be used by its owner meanwhile; its O_NONBLOCK flag does not matter and is not changed,
// since another process may share the open file.
class BlockingLine {
 public:
  // `give_up` is called several times a second while no bytes arrive; true ends receive().
  BlockingLine(int descriptor, std::function<bool()> give_up)
      : descriptor_(descriptor), give_up_(std::move(give_up)) {}

  // Blocks until bytes arrive and appends them. False: the peer has closed, or `give_up` said so.
  bool receive(std::string& into);
  // False: the peer has closed, or has read nothing for some seconds.
  bool send(std::string_view bytes);

 private:
  int descriptor_;
  std::function<bool()> give_up_;
};

}  // namespace sorrel::io
