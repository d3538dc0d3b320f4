#include <gtest/gtest.h>

#include <cstdlib>

#include "commands/dump_exercise.h"

namespace sorrel::commands {
namespace {

using testing::DumpExercise;
using testing::Mutator;

TEST(DumpMutation, EverySampleIsAccepted) {
  DumpExercise exercise;
  for (const std::string& body : exercise.samples())
    EXPECT_TRUE(exercise.run(body)) << int{body[0]};
}

// Any bytes are either rejected without effect, or a valid value. SORREL_MUTATIONS asks for more.
TEST(DumpMutation, DamagedPayloadsAreRejectedOrValid) {
  const char* asked = std::getenv("SORREL_MUTATIONS");
  const auto rounds = parse_int64(asked == nullptr ? "" : asked).value_or(20'000);
  const char* seed = std::getenv("SORREL_SEED");
  auto exercise = std::make_unique<DumpExercise>();
  Mutator mutator(static_cast<uint64_t>(parse_int64(seed == nullptr ? "" : seed).value_or(1)),
                  exercise->samples());
  int64_t accepted = 0;
  for (int64_t i = 0; i < rounds; i++) accepted += exercise->run(mutator.next()) ? 1 : 0;
  std::printf("%lld mutated payloads, %lld accepted\n", static_cast<long long>(rounds),
              static_cast<long long>(accepted));
  EXPECT_GT(accepted, rounds / 100);
  EXPECT_LT(accepted, rounds);
  // All of their memory has been freed.
  EXPECT_EQ(exercise->server().keyspace().key_count(0), 0u);
}

}  // namespace
}  // namespace sorrel::commands
