#include <fstream>
#include <nlohmann/json.hpp>

#include <weft/autograd/error.hpp>
#include <weft/train/tokenizers/chat_template.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;
using nlohmann::json;

namespace {

const std::string marks =
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}";

std::string rendered(const std::string& text) {
  return ChatTemplate(text).apply(std::vector<ChatMessage>{{"user", "hi"}}, false);
}
std::string error_of(const std::string& text) {
  return message_of<ValueError>([&] { (void)rendered(text); });
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("chat template: gives the texts of transformers", "[train]") {
  const json file = json::parse(std::ifstream(WEFT_TEST_DATA "/chat_templates.json"));
  REQUIRE(file["cases"].size() == 80);
  for (const json& expected : file["cases"]) {
    const auto name = expected["template"].get<std::string>();
    CAPTURE(name, expected["messages"].dump());
    const ChatTemplate chat(file["templates"][name].get<std::string>(), {"<s>", "</s>"});
    std::vector<ChatMessage> messages;
    for (const json& message : expected["messages"])
      messages.push_back(
          {message["role"].get<std::string>(), message["content"].get<std::string>()});
    const bool is_answered_next = expected["answered"].get<bool>();
    if (expected["text"].is_null())
      CHECK_THROWS_AS(chat.apply(messages, is_answered_next), ValueError);
    else
      CHECK(chat.apply(messages, is_answered_next) == expected["text"].get<std::string>());
  }
}

TEST_CASE("chat template: parts say which text is the model's", "[train]") {
  const ChatTemplate chat(marks);
  const std::vector<ChatMessage> messages = {
      {"user", "a"}, {"assistant", "b"}, {"user", "c"}, {"assistant", "d"}, {"user", "e"}};
  std::string all;
  std::vector<std::string> answers;
  for (const auto& [text, is_answer] : chat.parts(messages)) {
    all += text;
    if (is_answer) answers.push_back(text);
  }
  CHECK(all == chat.apply(messages, false));
  CHECK(answers == std::vector<std::string>{"b</>", "d</>"});
  CHECK(chat.parts({}).empty());
  const ChatTemplate other("{{ messages | length }}{{ messages[0].content }}");
  CHECK(message_of<ValueError>([&] { (void)other.parts(messages); }) ==
        "chat template: expected messages written in the same way when others follow, got other "
        "text");
}

TEST_CASE("chat template: is read from a model's folder", "[train]") {
  const TemporaryFolder folder;
  const std::vector<ChatMessage> messages = {{"user", "a"}};
  const auto error = [&] {
    return message_of<FileError>([&] { (void)ChatTemplate::load(folder.path()); });
  };
  CHECK(error().ends_with("expected a chat template, got none"));
  write(folder / "tokenizer_config.json",
        R"({"chat_template": "{{ bos_token }}old{{ eos_token }}", "bos_token": "<s>",
            "eos_token": {"content": "</s>"}})");
  CHECK(ChatTemplate::load(folder.path()).apply(messages, false) == "<s>old</s>");
  write(folder / "tokenizer_config.json",
        R"({"chat_template": [{"name": "tool_use", "template": "no"},
                              {"name": "default", "template": "yes"}]})");
  CHECK(ChatTemplate::load(folder.path()).apply(messages, false) == "yes");
  write(folder / "chat_template.jinja", "new");
  CHECK(ChatTemplate::load(folder.path()).apply(messages, false) == "new");
  write(folder / "chat_template.jinja", "\n{% if %}");
  CHECK(
      error().ends_with("chat_template.jinja\": chat template, line 2: expected a name, got '%}'"));
  write(folder / "tokenizer_config.json", "{");
  CHECK(error().find("expected JSON") != std::string::npos);
}

TEST_CASE("chat template: rejects what is no template", "[train]") {
  CHECK(error_of("a\n{% if true %}b") ==
        "chat template, line 2: expected {% endif %}, got the end");
  CHECK(error_of("{% for x in y %}{% endif %}") ==
        "chat template, line 1: expected if, for, set or generation, got 'endif %}'");
  CHECK(error_of("{% macro f() %}{% endmacro %}") ==
        "chat template, line 1: expected if, for, set or generation, got 'macro f() %}{% endma'");
  CHECK(error_of("{{ 1 + }}") == "chat template, line 1: expected a name, got '}}'");
  CHECK(error_of("{{ 'a }}") == "chat template, line 1: expected a closing ', got the end");
  CHECK(error_of("{{ a") == "chat template, line 1: expected }}, got the end");
  CHECK(error_of("{# a") == "chat template, line 1: expected #}, got the end");
  CHECK(error_of("{{ f(1 2) }}") == "chat template, line 1: expected , or ), got '2) }}'");
  CHECK(error_of("{{ 1.2.3 }}") == "chat template, line 1: expected a number, got '1.2.3 }}'");
  const std::string parentheses(20, '(');
  CHECK(error_of(concatenate_text("{{ ", std::string(1000, '('), 1, std::string(1000, ')'), " }}"))
            .ends_with(concatenate_text("got '", parentheses, '\'')));
  CHECK(error_of(concatenate_text("     {{ ", std::string(200, '-'), "1 }}"))
            .find("at most 100 nested parts") != std::string::npos);
}

TEST_CASE("chat template: rejects what has no meaning", "[train]") {
  CHECK(error_of("{{ raise_exception('No system') }}") == "chat template: No system");
  CHECK(error_of("{{ a.b.c }}") ==
        "chat template: expected a value of what has the entry b, got an undefined one");
  CHECK(error_of("{{ a + 1 }}") ==
        "chat template: expected a value of the left of +, got an undefined one");
  CHECK(error_of("{{ 'a' + 1 }}") ==
        "chat template: expected numbers, texts or lists for +, got string and number");
  CHECK(error_of("{{ 1 % 0 }}") == "chat template: expected a divisor, got 0");
  CHECK(error_of("{{ 'a' | nothing }}") ==
        "chat template: expected a known function, got 'nothing'");
  CHECK(error_of("{{ nothing('a') }}") ==
        "chat template: expected a known function, got 'nothing()'");
  CHECK(error_of("{{ 1 is odd }}") == "chat template: expected a known test, got 'odd'");
  CHECK(error_of("{{ 5 | trim }}") == "chat template: expected a text for trim, got number");
  CHECK(error_of("{{ 'abc'[::2] }}") ==
        "chat template: expected a slice of a list or a text, with step 1 or -1, got array and "
        "step 2");
  CHECK(error_of("{% set a.b = 1 %}") == "chat template: expected a namespace, got no a");
  CHECK(error_of("{% for a, b in [1] %}{% endfor %}") ==
        "chat template: expected as many values as names in a loop, got 1");
  CHECK(error_of("{% for i in range(2000000) %}{% endfor %}") ==
        "chat template: expected a range within ± a million, got a longer one");
  CHECK(error_of("{% for i in range(999999) %}{{ 1 + i }}{% endfor %}") ==
        "chat template: expected at most 64 MiB of values and steps, got more");
  CHECK(error_of("{% set a = 'aaaaaaaaaa' %}{% for i in range(900000) %}{{ a * 1 }}{% endfor %}") ==
        "chat template: expected numbers, texts or lists for *, got string and number");
  CHECK(error_of("{{ 'a' | join(1) }}") ==
        "chat template: expected a text for an argument, got number");
}

TEST_CASE("chat template: what is not chosen is not computed", "[train]") {
  CHECK(rendered("{% if false %}{{ raise_exception('x') }}{% endif %}a") == "a");
  CHECK(rendered("{{ a.b if a is defined else 'none' }}") == "none");
  CHECK(
      rendered("{% if a is defined and a.b.c %}x{% elif true or a.b.c %}y{% else %}z{% endif %}") ==
      "y");
  CHECK(rendered("{% for x in [] %}{{ raise_exception('x') }}{% endfor %}b") == "b");
}
