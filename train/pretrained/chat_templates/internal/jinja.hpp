// The template language of chat templates, Jinja, as used by transformers.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/pretrained/chat_templates/internal/jinja_values.hpp"

namespace weft::jinja {

struct Context;

// A rendered template.
struct Rendering {
  std::string text;
  // The begin and end of each {% generation %} block in `text`; std::nullopt if the output of some
  // of them was captured (by a macro or a set block).
  std::optional<std::vector<std::pair<std::size_t, std::size_t>>> generated;
};

// A parsed template. Several threads may render it at the same time.
class Template {
 public:
  // Parses a template. Throws ValueError, naming the line, if `text` is not a valid template.
  explicit Template(std::string_view text);

  // Renders the template like jinja2 with transformers' settings: trim_blocks, lstrip_blocks, a
  // sandbox in which values are immutable, and transformers' own filter tojson. `now` is the time
  // used by strftime_now. Throws ValueError for errors of jinja2, for unsupported elements, for
  // raise_exception, and if the budget is exhausted.
  Rendering render(const nlohmann::ordered_json& variables, std::chrono::local_seconds now,
                   Budget& budget) const;

  // Returns whether the template contains {% generation %} blocks.
  bool marks_answers() const { return marks_answers_; }
  // Returns whether the template uses strftime_now.
  bool uses_date() const { return uses_date_; }

 private:
  std::function<void(Context&)> write_;
  bool marks_answers_ = false;
  bool uses_date_ = false;
};

}  // namespace weft::jinja
