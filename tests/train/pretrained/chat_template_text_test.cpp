#include <string>
#include <utility>
#include <vector>

#include <weft/autograd/error.hpp>
#include <weft/train/pretrained/chat_templates/chat_template.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"

using namespace weft;

namespace {

using Cases = std::vector<std::pair<std::string, std::string>>;

std::string rendered(const std::string& text) {
  return ChatTemplate(text).apply(std::vector<ChatMessage>{{"user", "hi"}}, false);
}

std::string error_of(const std::string& text) {
  return message_of<ValueError>([&] { (void)rendered(text); });
}

// The values are those of jinja2 3.1.6 with Python 3.11, and of transformers' filter tojson.
void check(const Cases& cases) {
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK(rendered(text) == expected);
  }
}

}  // namespace

TEST_CASE("chat template: letters of any script change their case", "[train]") {
  check({
      {"{{ 'ÀÉ Я'.lower() }}{{ 'àé я'.upper() }}{{ 'àé'|upper }}{{ 'ÀÉ'|lower }}", "àé яÀÉ ЯÀÉàé"},
      {"{{ 'àÉ-éa 一a'.title() }}{{ 'éA bC'.capitalize() }}{{ ''.title() }}", "Àé-Éa 一AÉa bc"},
      {R"({{ 'dža ªa °a'.title() }}{{ 'e\u0301a'.title() }})", "Dža ªa °AE\u0301A"},
  });
}

TEST_CASE("chat template: refuses characters whose case has rules of its own", "[train]") {
  const Cases cases = {
      {"{{ 'ß'.upper() }}", "no character with special rules for upper case, got 'ß'"},
      {"{{ 'ŉ'.upper() }}", "no character with special rules for upper case, got 'ŉ'"},
      {"{{ 'ﬁ'.title() }}", "no character with special rules for upper case, got 'ﬁ'"},
      {"{{ 'Σ'.lower() }}", "no character with special rules for lower case, got 'Σ'"},
      {"{{ 'ʰa'.title() }}", "no character with special rules for a question of case, got 'ʰ'"},
      {"{{ 'ⅷa'.title() }}", "no character with special rules for a question of case, got 'ⅷ'"},
      {"{{ 'ⓐa'.title() }}", "no character with special rules for a question of case, got 'ⓐ'"},
  };
  for (const auto& [text, message] : cases) {
    CAPTURE(text);
    CHECK(contains(error_of(text), message));
  }
}

TEST_CASE("chat template: finds, replaces, strips and splits as in Python", "[train]") {
  check({
      {"{{ 'ab'.replace('', '-', 1) }}{{ 'ab'.replace('', '-', 0) }}{{ ''.replace('', '-') }}",
       "-abab-"},
      {"{{ 'aba'.find('') }}{{ 'aba'.rfind('') }}{{ 'aba'.find('c') }}{{ 'aba'.rfind('c') }}",
       "03-1-1"},
      {"{{ 'éab'.find('b') }}", "2"},
      {"{{ 'xxaxx'.strip('x') }}{{ 'xxaxx'.lstrip('x') }}{{ 'xxaxx'.rstrip('x') }}", "aaxxxxa"},
      {"{{ 'éxaé'.strip('éx') }}[{{ 'xx'.strip('x') }}]", "a[]"},
      {R"({{ '  a '.rstrip() }}{{ '  a '.lstrip() }}[{{ ' \u3000'.strip() }}])", "  aa []"},
      {R"({{ 'a\rb\r\nc\u2028d\u2029\x0be\n'|indent(1) }})", "a\n b\n c\n d\n\n e\n"},
      {"{{ ' a  b c'.split(none, 1) }}{{ 'a-b-c'.split('-', 1) }}", "['a', 'b c']['a', 'b-c']"},
      {"{{ 'a--b'.split('-') }}{{ 'a'.split('-', 0) }}", "['a', '', 'b']['a']"},
  });
}

TEST_CASE("chat template: writes strings and numbers as Python and as JSON", "[train]") {
  check({
      {R"({{ ['\t\n\r\\', '\x01\x7f\xad', '\u200b\ue000', '\U000e0001'] }})",
       R"(['\t\n\r\\', '\x01\x7f\xad', '\u200b\ue000', '\U000e0001'])"},
      {R"({{ ['it\'s "a"', 'it\'s', '😀é'] }})", R"(['it\'s "a"', "it's", '😀é'])"},
      {R"({{ '\t\n\r\x0c\x08\x1f"\\'|tojson }})", R"("\t\n\r\f\b\u001f\"\\")"},
      {R"({{ 'é😀'|tojson }}{{ 'é😀'|tojson(true) }})", R"("é😀""\u00e9\ud83d\ude00")"},
      {"{{ 0.00001 }} {{ 0.0001 }} {{ 1234.5 }} {{ -0.5 }}", "1e-05 0.0001 1234.5 -0.5"},
      {"{{ 9999999999999998.0 }} {{ 10000000000000000.0 }}", "9999999999999998.0 1e+16"},
  });
}

TEST_CASE("chat template: tests of types, and places that do not exist", "[train]") {
  check({
      {"{{ true is true }}{{ 1 is true }}{{ false is false }}{{ 0 is false }}",
       "TrueFalseTrueFalse"},
      {"{{ nope is undefined }}{{ 1 is undefined }}{{ nope is defined }}", "TrueFalseFalse"},
      {"{{ 'a' is sequence }}{{ {} is sequence }}{{ 1 is sequence }}", "TrueTrueFalse"},
      {"{{ [] is sequence }}{{ nope is sequence }}{{ {} is iterable }}{{ 1 is iterable }}",
       "TrueTrueTrueFalse"},
      {"{{ {'a': 1}.keys() }}{{ {'a': 1}.values() }}", "dict_keys(['a'])dict_values([1])"},
      {"[{{ 5[0] }}{{ [1][5] }}{{ none['a'] }}]", "[]"},
  });
  for (const char* text : {"{{ nope['a'] }}", "{{ nope[0] }}", "{{ 'a'.split('') }}",
                           "{{ ([1]|map('string'))[0] }}", "{{ aé }}", "{% raw %}{% endraw"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(rendered(text), ValueError);
  }
}

TEST_CASE("chat template: raw text", "[train]") {
  check({
      {"{% raw %}{{ x }}{% a %}{% endraws %}{% endraw %}", "{{ x }}{% a %}{% endraws %}"},
      {"a {%- raw -%} {{ x }} {%- endraw -%} b", "a{{ x }}b"},
      {"{% raw %} x {%+ endraw %} b", " x  b"},
  });
}

TEST_CASE("chat template: errors quote whole characters", "[train]") {
  CHECK(contains(error_of("{{ 1 éééééééééééé }}"), ", got 'éééééééééé'"));
  CHECK(contains(error_of("{{ 1 aéééééééééééé }}"), ", got 'aééééééééé'"));
}
