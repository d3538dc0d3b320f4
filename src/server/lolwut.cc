#include "server/lolwut.h"

#include <vector>

namespace sorrel::server {
namespace {

// A stem with leaves on alternate sides and a tuft of seeds on top:
//
//    ,;,
//   <|
//    |>
//    |
constexpr int kWidth = 4;
constexpr int kTallest = 9;

void grow(std::vector<std::string>& lines, size_t column, Random& random) {
  const auto height = static_cast<size_t>(3 + random.below(kTallest - 3));
  const size_t top = kTallest - height;
  lines[top].replace(column, 3, random.below(2) == 0 ? ",;," : "':'");
  bool left = random.below(2) == 0;
  for (size_t row = top + 1; row < kTallest; row++) {
    lines[row][column + 1] = '|';
    // The lowest part of a stem is bare.
    if (row + 1 == kTallest || random.below(4) == 0) continue;
    lines[row][left ? column : column + 2] = left ? '<' : '>';
    left = !left;
  }
}

}  // namespace

std::string draw_meadow(int plants, Random& random) {
  const auto width = static_cast<size_t>(plants) * kWidth;
  std::vector<std::string> lines(kTallest, std::string(width, ' '));
  for (size_t column = 0; column < width; column += kWidth) grow(lines, column, random);
  std::string picture;
  for (const std::string& line : lines)
    picture += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  for (size_t i = 0; i < width; i++) picture += random.below(3) == 0 ? '"' : '.';
  return picture + "\n";
}

}  // namespace sorrel::server
