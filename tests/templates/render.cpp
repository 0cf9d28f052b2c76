// render: renders chat templates by the interpreter of ChatTemplate. Reads JSON lines of objects
// with "template" and "variables"; for each, writes a line with the "text", or with the "error".
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include <weft/autograd/error.hpp>
#include "train/pretrained/chat_templates/internal/jinja.hpp"

int main() {
  using nlohmann::ordered_json;
  for (std::string line; std::getline(std::cin, line);) {
    const ordered_json input = ordered_json::parse(line);
    ordered_json output;
    try {
      weft::jinja::Budget budget;
      const weft::jinja::Template chat(input["template"].get<std::string>());
      output["text"] = chat.render(input["variables"],
                                   std::chrono::local_seconds(std::chrono::seconds(0)), budget)
                           .text;
    } catch (const weft::Error& error) {
      output["error"] = error.what();
    }
    std::cout << output << '\n';
  }
}
