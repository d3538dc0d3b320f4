#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sorrel::io {

// A connection without a loop: whoever reads waits for the bytes. For conversations that hold
// everything else up anyway. The descriptor belongs to somebody else, who does not use it
// meanwhile; whether it blocks does not matter and is not changed, since another process may share
// it.
class BlockingLine {
 public:
  // `give_up` is asked several times a second while nothing comes.
  BlockingLine(int descriptor, std::function<bool()> give_up)
      : descriptor_(descriptor), give_up_(std::move(give_up)) {}

  // Waits until bytes come and appends them. False: the peer has gone, or it is to give up.
  bool receive(std::string& into);
  // False: the peer has gone, or has taken nothing for some seconds.
  bool send(std::string_view bytes);

 private:
  int descriptor_;
  std::function<bool()> give_up_;
};

}  // namespace sorrel::io
