#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "resp/arg_list.h"

namespace sorrel::resp {

// Splits a line into words as Redis does for inline requests and configuration lines: separated by
// blanks; "double quotes" allow the escapes
// \r \t \b \a \xHH and \c for any c, 'single quotes' allow \'. Plain words are views into `line`;
// quoted words are stored in `store`. False when a quote is not closed, or is followed by anything
// but a blank.
bool split_inline(std::string_view line, ArgList& words,
                  std::vector<std::unique_ptr<std::string>>& store);

}  // namespace sorrel::resp
