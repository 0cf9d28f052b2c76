// Jinja: the part of the template language that chat templates use.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace weft::jinja {

struct Context;

// A template that is read once. It may be rendered on several threads.
class Template {
 public:
  // Throws ValueError, naming the line, for a text that is no template.
  explicit Template(std::string_view text);

  // The text that the template gives, without the lines and spaces around blocks, as in
  // transformers (trim_blocks, lstrip_blocks). Throws ValueError for what is not defined, for
  // raise_exception, and for more than 64 MiB of values and steps.
  std::string render(const nlohmann::ordered_json& variables) const;

 private:
  std::function<void(Context&)> write_;
};

}  // namespace weft::jinja
