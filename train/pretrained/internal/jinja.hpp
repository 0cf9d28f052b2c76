// Jinja: the template language of chat templates, as transformers runs it.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/pretrained/internal/jinja_values.hpp"

namespace weft::jinja {

struct Context;

// The result of rendering a template.
struct Rendering {
  std::string text;
  // Where {% generation %} blocks are in the text, begin and end; nothing if some are not in it.
  std::optional<std::vector<std::pair<std::size_t, std::size_t>>> generated;
};

// A template that is read once. It may be rendered on several threads.
class Template {
 public:
  // Throws ValueError, naming the line, for a text that is no template.
  explicit Template(std::string_view text);

  // Returns what jinja2 gives with transformers' settings (trim_blocks, lstrip_blocks, a sandbox
  // of values that do not change, and a filter tojson of its own). `now` is the time of
  // strftime_now. Throws ValueError for what jinja2 refuses, for what is not supported, for
  // raise_exception, and when the budget is spent.
  Rendering render(const nlohmann::ordered_json& variables, std::chrono::local_seconds now,
                   Budget& budget) const;

  // Whether the template has {% generation %} blocks.
  bool marks_answers() const { return marks_answers_; }
  // Whether the template names strftime_now.
  bool uses_date() const { return uses_date_; }

 private:
  std::function<void(Context&)> write_;
  bool marks_answers_ = false;
  bool uses_date_ = false;
};

}  // namespace weft::jinja
