#include "server/info.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/numbers.h"
#include "server/info_sections.h"

namespace sorrel::server {
namespace {

struct Section {
  std::string_view name;
  void (*write)(InfoText& out, Server& server);
  enum class Shown : uint8_t { kByDefault, kInAll, kOnRequest } shown = Shown::kByDefault;
};

// In the order they are shown in, whatever order they are asked for in.
constexpr Section kSections[] = {
    {"server", write_server_section},
    {"clients", write_clients_section},
    {"memory", write_memory_section},
    {"persistence", write_persistence_section},
    {"stats", write_stats_section},
    {"replication", write_replication_section},
    {"cpu", write_cpu_section},
    {"modules", write_modules_section},
    {"commandstats", write_commandstats_section, Section::Shown::kInAll},
    {"errorstats", write_errorstats_section},
    {"latencystats", write_latencystats_section, Section::Shown::kInAll},
    {"cluster", write_cluster_section},
    {"keyspace", write_keyspace_section},
    {"debug", write_debug_section, Section::Shown::kOnRequest},
};

bool is_wanted(const Section& section, std::span<const std::string_view> names) {
  if (names.empty()) return section.shown == Section::Shown::kByDefault;
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    if (iequals(name, section.name)) return true;
    if (iequals(name, "default")) return section.shown == Section::Shown::kByDefault;
    if (iequals(name, "all") || iequals(name, "everything")) {
      return section.shown != Section::Shown::kOnRequest;
    }
    // How the default list of Redis names this section.
    return section.write == write_modules_section && iequals(name, "module_list");
  });
}

void info(Call& call) {
  call.reply.verbatim("txt", info_text(call.context<Server>(), call.args.subspan(1)));
}

}  // namespace

void InfoText::section(std::string_view title) {
  if (!text_.empty()) text_ += "\r\n";
  fmt::format_to(std::back_inserter(text_), "# {}\r\n", title);
}

void InfoText::field(std::string_view name, std::string_view value) {
  fmt::format_to(std::back_inserter(text_), "{}:{}\r\n", name, value);
}

void InfoText::ratio(std::string_view name, double value) {
  fmt::format_to(std::back_inserter(text_), "{}:{:.2f}\r\n", name, value);
}

void InfoText::percent(std::string_view name, double value) {
  fmt::format_to(std::back_inserter(text_), "{}:{:.2f}%\r\n", name, value);
}

void InfoText::memory(std::string_view name, uint64_t bytes) {
  field(name, bytes);
  fmt::format_to(std::back_inserter(text_), "{}_human:{}\r\n", name, human_bytes(bytes));
}

void InfoText::zeros(std::initializer_list<std::string_view> names) {
  for (std::string_view name : names) field(name, 0);
}

std::string safe_info_name(std::string_view name) {
  std::string safe(name);
  for (char& c : safe) {
    if (c == '#' || c == ':' || c == '\n' || c == '\r') c = '_';
  }
  return safe;
}

std::string info_text(Server& server, std::span<const std::string_view> sections) {
  InfoText out;
  for (const Section& section : kSections) {
    if (is_wanted(section, sections)) section.write(out, server);
  }
  return out.text();
}

std::vector<Binding> info_bindings(Server& server) {
  return {{"info", &info, &server}};
}

}  // namespace sorrel::server
