// INFO about files; the fields are persist's.

#include "server/info_sections.h"
#include "server/server.h"

namespace sorrel::server {
namespace {

class InfoFields final : public persist::FieldSink {
 public:
  explicit InfoFields(InfoText& out) : out_(out) {}

  void text(std::string_view name, std::string_view value) override { out_.field(name, value); }
  void number(std::string_view name, int64_t value) override { out_.field(name, value); }
  void ratio(std::string_view name, double value) override { out_.ratio(name, value); }

 private:
  InfoText& out_;
};

}  // namespace

void write_persistence_section(InfoText& out, Server& server) {
  out.section("Persistence");
  InfoFields fields(out);
  server.persistence().write_info(fields);
}

}  // namespace sorrel::server
