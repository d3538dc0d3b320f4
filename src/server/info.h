#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/call.h"

namespace sorrel::server {

class Server;

// The text of INFO while it is written: sections of "name:value" lines.
class InfoText {
 public:
  // "# Title", with a blank line before all but the first.
  void section(std::string_view title);

  void field(std::string_view name, std::string_view value);
  template <class Number>
  requires std::is_integral_v<Number>
  void field(std::string_view name, Number value) {
    fmt::format_to(std::back_inserter(text_), "{}:{}\r\n", name, value);
  }
  // Two digits behind the point.
  void ratio(std::string_view name, double value);
  void percent(std::string_view name, double value);
  // The bytes, and once more in the form people read.
  void memory(std::string_view name, uint64_t bytes);
  // Several fields that are zero because what they count does not happen here.
  void zeros(std::initializer_list<std::string_view> names);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The name as INFO may show it: characters that would end a field or a line become '_'.
std::string safe_info_name(std::string_view name);

// The text for these section names: any case, in any order, unknown ones are ignored. None means
// the default ones; "all" and "everything" mean all. Under the gate.
std::string info_text(Server& server, std::span<const std::string_view> sections);

// INFO; its context is the server, because it shows everything.
std::vector<Binding> info_bindings(Server& server);

}  // namespace sorrel::server
