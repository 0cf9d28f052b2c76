#include <fstream>
#include <nlohmann/json.hpp>

#include <weft/autograd/error.hpp>
#include <weft/train/pretrained/chat_templates/chat_template.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/temporary_folder.hpp"
#include "train/pretrained/chat_templates/internal/jinja.hpp"

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
  const auto file =
      nlohmann::ordered_json::parse(std::ifstream(WEFT_TEST_DATA "/chat_templates.json"));
  REQUIRE(file["cases"].size() == 702);
  for (const auto& expected : file["cases"]) {
    const auto name = expected["template"].get<std::string>();
    const auto& variables = file["variables"][expected["variables"].get<std::size_t>()];
    CAPTURE(name, variables.dump());
    const jinja::Template chat(file["templates"][name].get<std::string>());
    jinja::Budget budget;
    const auto render = [&] { return chat.render(variables, {}, budget).text; };
    if (expected["text"].is_null())
      CHECK_THROWS_AS(render(), ValueError);
    else
      CHECK(render() == expected["text"].get<std::string>());
  }
}

TEST_CASE("chat template: what jinja2 gives otherwise than other interpreters", "[train]") {
  const ChatTemplate::Tokens tokens{"<s>", "", {{"pad_token", "<pad>"}}};
  const std::vector<ChatMessage> messages = {
      {"system", "Be brief."}, {"user", "Hello"}, {"assistant", "Hi."}};
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{% for m in messages %}{% if loop.previtem and loop.previtem.role == 'user' %}X{% endif %}"
       "{% endfor %}",
       "X"},
      {"{{ ' a  b '.split()|length }}", "2"},
      {"{{ 'a</t>b</t>c'.split('</t>', 1)[1] }}{{ ' a b  c '.split(none, 1) }}",
       "b</t>c['a', 'b  c ']"},
      {"{{ 'a,b,'.split(',') }}{{ ''.split(',') }}{{ ' '.split() }}", "['a', 'b', ''][''][]"},
      {R"({{ '\x41\u00e9\n' }})", "Aé\n"},
      {R"({{ '\x41\u00e9\q' }})", R"(Aé\q)"},
      {"{{ 'aXbXc'.replace('X','-',1) }}", "a-bXc"},
      {"{{ 'abc'.startswith('b') }}{{ 'abc'.endswith('c') }}{{ 'éaé'.rfind('é') }}", "FalseTrue2"},
      {"{{ 'abc'|list }}", "['a', 'b', 'c']"},
      {"{{ 'é'.strip('è') }}{{ '\u00a0 é\u3000'|trim }}", "éé"},
      {"{{ ['a',true,none, 1.0, 10000000000000000.0, 'it\\'s'] }}",
       "['a', True, None, 1.0, 1e+16, \"it's\"]"},
      {"{{ none|default('D',true) }}{{ none|default('D') }}", "DNone"},
      {"{% for i in range(0,6,2) %}{{ i }}{% endfor %}", "024"},
      {"{% for m in messages %}{% if loop.nextitem is defined %}X{% endif %}{% endfor %}", "XX"},
      {"{% for m in messages %}{{ loop.index }}{{ loop.length }}{% endfor %}", "132333"},
      {"{% set v = messages[0].nope %}[{{ v }}]", "[]"},
      {"{{ 1 == true }}{{ 1 < 2 < 2 }}{{ 1 < 2 <= 2 }}", "TrueFalseTrue"},
      {"{{ messages[0].content[-1] }}{{ '織機'|first }}{{ '織機'[::-1] }}", ".織機織"},
      {"{{ 'a' 'b' }}{{ 'x' * 3 }}{{ -7 % 3 }}{{ 7 % -2 }}", "abxxx2-1"},
      {"{{ 'b' is in ['a','b'] }}{{ true is boolean }}", "TrueTrue"},
      {"{{ messages|selectattr('role','equalto','user')|list|length }}", "1"},
      {"{{ messages|map(attribute='role')|join('-') }}", "system-user-assistant"},
      {"{% for x in [1,2,3] %}{% if x == 2 %}{% continue %}{% endif %}{{ x }}{% endfor %}", "13"},
      {"{% macro f(x, y='d') %}{{ x }}{{ y }}{% endmacro %}{{ f(1) }}{{ f(y=2, x=3) }}", "1d32"},
      {"{% macro f(x, y) %}{{ x }}{{ y }}{% endmacro %}{{ [f][0](*[1, 2]) }}{{ f(1, *'a') }}"
       "{{ f(*(), y=3) }}{{ 'aa'.replace(*['a', 'b']) }}",
       "121a3bb"},
      {"{{ '%s' | format(1.5) }}{{ 'a%s-%s' | format(none, nope) }}{{ 'a' | format }}",
       "1.5aNone-a"},
      {"{{ [1,2,3][::-1] }}{{ [3,1,2]|sort }}{{ [3,1,2]|min }}", "[3, 2, 1][1, 2, 3]1"},
      {"{% if tools is none and documents is none %}none{% endif %}", "none"},
      {"a\r\n{% if true %}\r\nb\r\n{% endif %}\r\nc\r\n", "a\nb\nc"},
      {"{{ bos_token }}{{ pad_token }}{{ eos_token is defined }}", "<s><pad>False"},
      {"{{ {'é': 1.0, 'b': [none]}|tojson(indent=1) }}",
       "{\n \"é\": 1.0,\n \"b\": [\n  null\n ]\n}"},
      // A name that is set later in the same scope is not the variable of that name.
      {"{% for i in [1] %}[{{ bos_token }}]{% endfor %}{% set bos_token = 'x' %}", "[]"},
      // A variable that a loop sets ends with the loop; the variable of that name outside remains.
      {"{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = 2 %}{% endfor %}{{ x }}", "111"},
      {"{% set x = 1 %}{% for x in [2, 3] %}{{ x }}{% endfor %}{{ x }}", "231"},
      {"{% for i in [1, 2] %}{% break %}{% else %}none ended{% endfor %}", "none ended"},
      {"{% for i in [1, 2] %}{% continue %}{% else %}none ended{% endfor %}", "none ended"},
      {"{% set ns = namespace(n=1) %}{% for i in [1, 2] if i != ns.n %}{{ i }}{% set ns.n = 2 %}"
       "{% endfor %}",
       "2"},
      {"{% set g = [1, 2]|map('string') %}{{ g|first }}{{ g|list }}{{ g|list }}", "1['2'][]"},
      {"{{ {1: 'a', true: 'b'} }}{{ (1,) }}{{ range(1, 5, 2) }}{{ {}.items() }}",
       "{1: 'b'}(1,)range(1, 5, 2)dict_items([])"},
      {"{{ '<' + '>'|safe }}{{ '<'|safe + '\"&' + \"'>\" }}", "&lt;><&#34;&amp;&#39;&gt;"},
      {"{{ '<'|safe }}{{ '<' ~ '>'|safe }}{{ 'a'|safe is string }}", "<<>True"},
      {"{% set s %}{% set s = 1 %}{{ s }}{% endset %}{{ s }}", "1"},
      {"{{ ' -07 '|int }}{{ none|int(3) }}{{ 1.9|int }}", "-731"},
  };
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK(ChatTemplate(text, tokens).apply(messages, false) == expected);
  }
}

TEST_CASE("chat template: filters, strings and keys are as in jinja2 and Python", "[train]") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({{ 'a\n\nb\r\nc'|indent(2) }})", "a\n\n  b\n  c"},
      {R"({{ 'a\x1cb\x85c'|indent(1) }})", "a\n b\n c"},
      {"{{ 'a-b (c {d [e <f g'|title }}", "A-B (C {D [E <F G"},
      // Cases do not matter for the order, and remain.
      {"{{ ['b', 'A']|min }}{{ ['a', 'B', 'b', 'A']|sort }}", "A['a', 'A', 'B', 'b']"},
      {"{{ ['a', 'A', 'b']|unique|list }}{{ {'B': 1, 'a': 2}|dictsort }}",
       "['a', 'b'][('a', 2), ('B', 1)]"},
      {"{{ [{'a': {'b': {'c': 1}}}]|map(attribute='a.b.c')|list }}", "[1]"},
      {"{{ {'a': [1, 2]}|tojson(separators=(',', ':')) }}", R"({"a":[1,2]})"},
      {"{{ [[1, 2], [3]]|tojson(indent=1) }}", "[\n [\n  1,\n  2\n ],\n [\n  3\n ]\n]"},
      {R"({{ '\x7f'|tojson }}{{ '\x7f'|tojson(true) }})", "\"\x7f\"\"\\u007f\""},
      {"{{ 'aaa'|replace('a', 'b', 2) }}{{ 'ab'.replace('', '-') }}", "bba-a-b-"},
      {R"({{ ['c\'"', '\u00a0', '\u2028'] }})", R"(['c\'"', '\xa0', '\u2028'])"},
      {R"({{ '\x1ca\x1f'.strip() }})", "a"},
      {"{{ 'true' if ''|safe else 'false' }}", "false"},
      {"{{ {1: 'a'}[1.0] }}{{ {1.0: 'b'}[1] }}", "ab"},
      {"{{ {('a', 'b'): 1, ('asb',): 2}|length }}", "2"},
  };
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK(rendered(text) == expected);
  }
}

TEST_CASE("chat template: refuses what jinja2 refuses, and what is not supported", "[train]") {
  for (const char* text : {"{{ 'a' in none }}",
                           "{{ 5|length }}",
                           "{{ none|length }}",
                           "{{ 'a' < 1 }}",
                           "{{ 'a' + 1 }}",
                           "{{ a.b.c }}",
                           "{{ a.b }}",
                           "{{ a() }}",
                           "{{ a + 1 }}",
                           "{{ -a }}",
                           "{{ [1].append(2) }}",
                           "{{ {}.update({}) }}",
                           "{{ 'a'.encode() }}",
                           "{{ '%s' % 1 }}",
                           "{{ '%d'|format(1) }}",
                           "{{ '%%'|format }}",
                           "{{ '%s'|format }}",
                           "{{ '%s'|format(1, 2) }}",
                           "{{ '%s'|format(x=1) }}",
                           "{{ 'a'.nope() }}",
                           "{{ 'a'|upper(1) }}",
                           "{{ 'a'|default(nope=1) }}",
                           "{{ 'a'|nothing }}",
                           "{{ 1 is nothing }}",
                           "{{ 'a'.split(sep='b', sep='c') }}",
                           "{{ 'a'.strip(chars='b') }}",
                           "{{ range(*[1], *[2]) }}",
                           "{{ range(*[1], 2) }}",
                           "{{ range(*1) }}",
                           "{{ dict(**{}) }}",
                           "{% macro f() %}{{ varargs }}{% endmacro %}",
                           "{% macro f(a) %}{% endmacro %}{{ f(1, 2) }}",
                           "{% macro f(a) %}{% endmacro %}{{ f(b=1) }}",
                           "{% call f() %}{% endcall %}",
                           "{% include 'a' %}",
                           "{% import 'a' as a %}",
                           "{% extends 'a' %}",
                           "{% block a %}{% endblock %}",
                           "{% autoescape true %}{% endautoescape %}",
                           "{% for a in b recursive %}{% endfor %}",
                           "{% with a = 1 %}{% endwith %}",
                           "{% filter upper %}{% endfilter %}",
                           "{% print 1 %}",
                           "{% set a | upper %}{% endset %}",
                           "{{ 1 ** 2 }}",
                           "{{ 1 // 2 }}",
                           "{{ 1.5 % 2 }}",
                           "{{ +1 }}",
                           "{{ [1] * 2 }}",
                           "{{ 1_0 }}",
                           "{{ 1e3 }}",
                           "{{ '\\101' }}",
                           "{{ 'a'|safe == 'a' }}",
                           "{{ 'a'|safe in ['a'] }}",
                           "{{ {'a': 1}['a'|safe] }}",
                           "{{ 'a'|safe|length }}",
                           "{{ 'a'|safe|upper }}",
                           "{{ ['a'|safe] }}",
                           "{{ 'a'|safe|tojson }}",
                           "{{ '1.5'|int }}",
                           "{{ [1]|sort(true) }}",
                           "{{ [1]|sort(attribute='a,b') }}",
                           "{{ [[1]]|map(attribute='0') }}",
                           "{{ [1]|map(attribute='a', default=1) }}",
                           "{{ dict({}) }}",
                           "{{ {}.copy }}",
                           "{{ [1].count(1) }}",
                           "{% for i in [1] %}{{ loop.cycle(1) }}{% endfor %}",
                           "{{ 'abc'.startswith(('a', 'b')) }}",
                           "{{ 'abc'.startswith('b', 1) }}",
                           "{% break %}",
                           "{% endif %}",
                           "{% if a %}",
                           "{% for a, b in [1] %}{% endfor %}",
                           "{% set a, b = [1, 2, 3] %}",
                           "{% for a in 1 %}{% endfor %}",
                           "{% set a.b = 1 %}",
                           "{% set n = namespace() %}{% set n._a = 1 %}",
                           "{% for i in [1] %}{{ loop.nope }}{% endfor %}",
                           "{{ '\\N{DASH}' }}",
                           "{{ '\\x4' }}",
                           "{{ '\\ud800' }}",
                           "{{ 9223372036854775807 + 1 }}",
                           "{{ 9223372036854775808 }}",
                           "{{ 2 ** 64 }}",
                           "{{ 1 % 0 }}",
                           "{{ range(200000) }}",
                           "{{ é }}",
                           "{{ [3, 'a']|sort }}",
                           "{{ {[]: 1} }}",
                           "{{ messages|map('upper') }}",
                           "{{ messages|tojson|nope }}",
                           "{{ self }}",
                           "{{ ''.__class__ }}",
                           "{{ strftime_now('%f') }}",
                           "{% raw %}",
                           "{{ 1 | }}"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(rendered(text), ValueError);
  }
  // A macro is called in another loop than the one that defines it.
  CHECK_THROWS_AS(
      rendered("{% set n = namespace() %}{% for i in [1] %}{% macro f() %}{% endmacro %}"
               "{% set n.f = f %}{% endfor %}{% for i in [2] %}{{ n.f() }}{% endfor %}"),
      ValueError);
  jinja::Budget budget;
  CHECK_THROWS_AS(jinja::Template("{{ n }}").render({{"n", ~std::uint64_t{0}}}, {}, budget),
                  ValueError);
}

TEST_CASE("chat template: costs are bounded by what a template touches", "[train]") {
  const std::string many_names = [] {
    std::string text = "{{ a";
    for (int i = 0; i < 3000; ++i) text += " or a";
    return text + " }}";
  }();
  const std::string doubled =
      "{% set ns = namespace(s='a') %}{% for i in range(20) %}{% set ns.s = ns.s + ns.s %}{% "
      "endfor %}";
  const std::string million = "{% for i in range(1000) %}{% for j in range(1000) %}";
  const std::string ends = "{% endfor %}{% endfor %}";
  CHECK(rendered("{{ " + std::string(30, '[') + "1" + std::string(30, ']') + " }}").size() == 61);
  CHECK(rendered(many_names).empty());
  CHECK(rendered("{{ {'é'.strip('è'): 1}|tojson }}") == "{\"é\": 1}");
  const std::string far_too_long[] = {
      doubled + million + "{% if ns.s|length %}{% endif %}" + ends,
      doubled + million + "{% if ns.s.startswith(ns.s) %}{% endif %}" + ends,
      doubled + "{{ ns.s.replace('a', ns.s) }}",
      doubled + "{{ ns.s.split('a')|length }}" + million + ends,
      "{% for i in range(99999) %}" + many_names + "{% endfor %}",
      "{% set ns = namespace(l=[]) %}{% for i in range(90) %}{% set ns.l = [ns.l, ns.l] %}{% "
      "endfor %}"
      "{{ ns.l }}",
      "{{ 'a' * 100000000000 }}",
      "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"};
  for (const std::string& text : far_too_long) {
    CAPTURE(text.substr(0, 200));
    CHECK(error_of(text) == "chat template: expected at most 64 MiB of values and steps, got more");
  }
  CHECK(error_of("{% set ns = namespace(l=[]) %}{% for i in range(999) %}{% set ns.l = [ns.l] %}"
                 "{% endfor %}")
            .find("at most 100 levels of nested values") != std::string::npos);
  CHECK(error_of("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}")
            .find("at most 500 nested steps") != std::string::npos);
  // What searches for a long string takes a time linear in both.
  CHECK(rendered("{% set s = 'a' * 1000000 %}{{ s.find('a' * 500000 ~ 'b') }}{{ s.rfind('b' ~ 'a' "
                 "* 500000) }}") == "-1-1");
  CHECK(rendered("{{ ('a,' * 500000).split(',')|length }}") == "500001");
  // A long conversation has a budget of its own.
  const std::string content(12 << 20, 'a');
  const std::vector<ChatMessage> messages = {{"user", content}, {"user", content}};
  CHECK(ChatTemplate(marks).apply(messages, false).size() == 2 * content.size() + 18);
}

TEST_CASE("chat template: the date is that of the rendering, or one that is given", "[train]") {
  const ChatTemplate chat("{{ strftime_now('%d %b %Y %H:%M') }}");
  CHECK(chat.uses_date());
  CHECK_FALSE(ChatTemplate("{{ messages }}").uses_date());
  using namespace std::chrono;
  const local_seconds date = local_days(2026y / November / 25) + 4h + 5min;
  CHECK(chat.with_date(date).apply({}, false) == "25 Nov 2026 04:05");
  const local_seconds before = ChatTemplate::current_date();
  const std::string now = chat.apply({}, false);
  const local_seconds after = ChatTemplate::current_date();
  CHECK((now == chat.with_date(before).apply({}, false) ||
         now == chat.with_date(after).apply({}, false)));
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
  // Blocks of the template say it, too, and need one rendering.
  const ChatTemplate marked(
      "{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }};"
      "{% endgeneration %}{% else %}{{ m.content }}{% endif %}{{ loop.last }}{% endfor %}");
  std::vector<std::string> texts;
  for (const auto& part : marked.parts(messages))
    texts.push_back((part.is_answer ? "+" : "") + part.text);
  CHECK(texts == std::vector<std::string>{"aFalse", "+b;",
                                          "Falsec"
                                          "False",
                                          "+d;", "FalseeTrue"});
  CHECK_THROWS_AS(
      ChatTemplate("{% set a %}{% generation %}{% endgeneration %}{% endset %}").parts(messages),
      ValueError);
  // Rendering each beginning is bounded for all of them.
  std::vector<ChatMessage> many;
  for (int i = 0; i < 20000; ++i) many.push_back({i % 2 == 0 ? "user" : "assistant", "a"});
  CHECK(message_of<ValueError>([&] { (void)chat.parts(many); }) ==
        "chat template: expected parts of a conversation that need less work, got more work");
  const ChatTemplate other("{{ messages | length }}{{ messages[0].content }}");
  CHECK(message_of<ValueError>([&] { (void)other.parts(messages); }) ==
        "chat template: expected the same text for a message when further messages follow, got "
        "different text");
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
  CHECK(error().ends_with(
      "chat_template.jinja\": chat template, line 2: expected an expression, got '%}'"));
  write(folder / "tokenizer_config.json", "{");
  CHECK(error().find("expected JSON") != std::string::npos);
}

TEST_CASE("chat template: errors name the line, or what has no meaning", "[train]") {
  const auto named = [](const std::string& text, const std::string& error) {
    CAPTURE(text);
    CHECK(error_of(text) == "chat template" + error);
  };
  named("a\n{% if true %}b", ", line 2: expected {% endif %}, got the end");
  named("{% call f() %}{% endcall %}",
        ", line 1: expected if, for, set, macro, generation, or in a loop break or continue, got "
        "'call f() %}{% endcal'");
  named("{{ 1 + }}", ", line 1: expected an expression, got '}}'");
  named("{{ 'a }}", ", line 1: expected a closing ', got the end");
  named("{{ a", ", line 1: expected }}, got the end");
  named("{# a", ", line 1: expected #}, got the end");
  named("{{ f(1 2) }}", ", line 1: expected ,, got '2) }}'");
  named("{{ a | nothing }}", ", line 1: expected a known filter, got 'nothing }}'");
  named("{{ " + std::string(1000, '(') + "1" + std::string(1000, ')') + " }}",
        ", line 1: expected at most 100 nested parts, got '" + std::string(20, '(') + '\'');
  named("{{ raise_exception('No system') }}", ": No system");
  named("{{ a.b.c }}", ": expected a value with 'b', got 'a', which is undefined");
  named("{{ a + 1 }}", ": expected numbers for +, got undefined and int");
  named("{{ 1 % 0 }}", ": expected a divisor other than 0, got 0");
  named("{{ 1 if true else 'a' | nothing }}x{{ 'a' | nothing if true }}",
        ": expected a known filter, got filter 'nothing'");
  named("{{ [1].append(1) }}",
        ": expected a template without list.append, which is not supported, got list.append");
  named("{{ 'a' | replace('b') }}", ": expected argument new of replace, got none");
  named("{{ 'a' | join('b', 'c', 1) }}", ": expected at most 2 arguments of join, got 4");
  named("{{ 'a'.split('b', 'c') }}",
        ": expected an integer as argument maxsplit of str.split, got str");
  named(
      "{{ 1 / 2 }}",
      ", line 1: expected a template without /, // and **, which are not supported, got '/ 2 }}'");
  named("{{ 0x1 }}", ", line 1: expected a number in plain decimal digits, got '0x1 }}'");
  for (const std::string what : {"sum", "groupby", "escape", "urlencode"})
    named("{{ [1] | " + what + " }}",
          ": expected a template without " + what + ", which is not supported, got " + what);
  for (const std::string what : {"number", "sameas", "lower"})
    named("{{ 1 is " + what + " }}",
          ": expected a template without " + what + ", which is not supported, got " + what);
  for (const std::string what : {"isdigit", "rsplit", "count"})
    named("{{ 'a'." + what + " }}", ": expected a template without str." + what +
                                        ", which is not supported, got str." + what);
  named("{% set a.b = 1 %}", ": expected a namespace 'a', got a different type");
}

TEST_CASE("chat template: what is not chosen is not computed", "[train]") {
  CHECK(rendered("{% if false %}{{ raise_exception('x') }}{% endif %}a") == "a");
  CHECK(rendered("{{ a.b if a is defined else 'none' }}") == "none");
  CHECK(
      rendered("{% if a is defined and a.b.c %}x{% elif true or a.b.c %}y{% else %}z{% endif %}") ==
      "y");
  CHECK(rendered("{% for x in [] %}{{ raise_exception('x') }}{% endfor %}b") == "b");
}
