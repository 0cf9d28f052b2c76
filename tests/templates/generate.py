"""Random chat templates: expressions and statements of Jinja, most of them with a meaning, some
without one, and a few that weft does not support."""

import random

STRINGS = ["''", "'a'", "'b'", "'abc'", "' a  b '", "'x,y,,z'", "'é'", "'Straße'", "'\\u00a0nbsp\\u2003'",
           "'line\\nnext\\r\\nlast'", "'it\\'s'", "'\"q\"'", "'<b>&</b>'", "'12'", "'-3.5'", "'1e3'",
           "'abcabc'", "'织 weft'", "'\\x41\\t'", "'A' 'b'", "'Hello World foo-bar'", "'%s'", "'0x1f'",
           "'  '", "'aXbXc'", "'user'", "'_1_000'", "'e\\u0301'", "'ǆ ß'", "'Σας'", "'\\\\d'", "'½'"]
NUMBERS = ["0", "1", "2", "3", "-1", "-2", "10", "1.5", "2.0", "-0.5", "0.1", "7", "100", "9007199254740993"]
NAMES = ["messages", "m", "x", "s", "n", "d", "items", "pairs", "nope", "none", "true", "false",
         "add_generation_prompt", "bos_token", "tools", "ns", "ns.a", "m.content", "m.role", "m['role']",
         "m.nope", "messages[0]", "messages[-1].content", "loop.index", "loop.first", "loop.last", "d.k",
         "d['n']", "nope.a", "none.a", "range(3)", "f(x)", "loop.previtem", "loop.nextitem"]
TESTS = ["defined", "undefined", "none", "string", "mapping", "boolean", "true", "false", "iterable", "sequence"]
TESTS_WITH = ["eq", "equalto", "in"]
PLAIN_FILTERS = ["length", "count", "upper", "lower", "title", "capitalize", "trim", "first", "last",
                 "list", "string", "int", "tojson", "sort", "unique|list", "min", "join", "items|list",
                 "dictsort", "safe", "d", "default", "indent", "string|length", "list|length", "format", "nosuch"]
METHODS = ["strip()", "lstrip()", "rstrip()", "split()", "upper()", "lower()", "title()", "capitalize()",
           "items()", "keys()", "values()", "keys()|list", "values()|list", "items()|list", "append(1)", "nope()"]
# What jinja2 renders, and weft refuses.
REFUSED_FILTERS = ["abs", "attr('x')", "batch(2)|list", "center(9)", "e", "escape", "filesizeformat", "float",
                   "forceescape", "groupby(0)", "max", "pprint", "random", "reverse", "round", "slice(2)|list",
                   "striptags", "sum", "truncate", "urlencode", "urlize", "wordcount", "wordwrap", "xmlattr"]
REFUSED_TESTS = ["callable", "divisibleby 2", "escaped", "even", "filter", "float", "ge 1", "gt 1", "integer", "le 1",
                 "lt 1", "lower", "ne 1", "number", "odd", "sameas none", "test", "upper"]
REFUSED_METHODS = ["casefold()", "center(9)", "count('a')", "encode()", "expandtabs()", "format(1)", "index('')",
                   "isalnum()", "isalpha()", "isascii()", "isdecimal()", "isdigit()", "isidentifier()", "islower()",
                   "isnumeric()", "isprintable()", "isspace()", "istitle()", "isupper()", "join('ab')", "ljust(9)",
                   "partition('a')", "removeprefix('a')", "removesuffix('a')", "rindex('')", "rjust(9)",
                   "rpartition('a')", "rsplit()", "splitlines()", "startswith(('a', 'b'))", "swapcase()", "zfill(9)"]
REFUSED = ["{{ '1'|%s }}" % one for one in REFUSED_FILTERS if one not in ("abs", "round", "xmlattr", "filesizeformat", "sum")] + [
    "{{ 1|%s }}" % one for one in ("abs", "round", "filesizeformat")] + [
    "{{ 'upper' is %s }}" % one for one in REFUSED_TESTS if one[:2] not in ("ge", "gt", "le", "lt", "ev", "od", "di")] + [
    "{{ 2 is %s }}" % one for one in REFUSED_TESTS if one[:2] in ("ge", "gt", "le", "lt", "ev", "od", "di")] + [
    "{{ 'a'.%s }}" % one for one in REFUSED_METHODS] + [
    "{% for a in [1] %}{{ loop." + one + " }}{% endfor %}" for one in ("changed(1)", "cycle(1)", "depth", "depth0", "revindex", "revindex0")] + [
    "{{ " + one + " }}" for one in (
        "[1]|sum", "1 / 2", "1 // 2", "1 ** 2", "1.5 % 2", "+1", "0x1", "1_0", "1e1", "'\\1'", "'\\é'", "dict(**{})", "dict({})", "[1] * 2",
        "'a'|safe == 'a'", "'a'|safe|length", "('a'|safe)[0]", "['a'|safe]", "'a'|safe|tojson", "'a'|safe|upper", "[1]|sort(reverse=true)",
        "{}|tojson(sort_keys=true)", "{}|tojson(indent='a')", "'a'|indent('a')", "['a']|join(attribute=0)", "[[1]]|map(attribute=0)|list",
        "'a'|map(attribute='a', default=1)|list", "{}|dictsort(true)", "[1].copy()", "[1].count(1)", "[1].index(1)", "(1,).count(1)", "{}.copy()",
        "'1.5'|int", "'a'|int", "'1'|int(base=8)", "'%d'|format(1)", "'%%'|format", "self")] + [
    "{% with a = 1 %}{% endwith %}", "{% filter upper %}a{% endfilter %}", "{% print 1 %}", "{% set a | upper %}a{% endset %}",
    "{% for (a, b) in [] %}{% endfor %}", "{% macro f() %}{{ caller }}{% endmacro %}", "{% for a in [] recursive %}{% endfor %}",
    "{% macro f() %}{{ caller() }}{% endmacro %}{% call f() %}{% endcall %}"]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, choices):
        return self.random.choice(choices)

    def chance(self, probability):
        return self.random.random() < probability

    def rarely(self, choices, others):
        return self.pick(choices) if self.chance(0.01) else self.pick(others)

    def string(self):
        return self.pick(STRINGS)

    def texts(self, depth):
        """Most often a string."""
        return self.pick([self.string, self.string, lambda: self.pick(["s", "m.content", "m.role", "x"]),
                          lambda: self.expression(depth - 1)])()

    def number(self, depth=0):
        if depth > 0 and self.chance(0.2):
            return self.expression(depth - 1)
        return self.pick(NUMBERS[:10] if self.chance(0.8) else NUMBERS)

    def small(self):
        return self.pick(["0", "1", "2", "3", "-1", "-2", "none", "true", "5"])

    def listed(self, depth):
        kind = self.random.randrange(9)
        if kind < 3:
            return self.pick(["messages", "items", "pairs", "d", "s", "nope", "range(4)", "d.items()"])
        if kind < 6:
            values = [self.pick([self.string, self.number])() for _ in range(self.random.randrange(4))]
            return "[" + ", ".join(values) + "]"
        if kind == 6:
            return "(" + "".join(self.atom() + ", " for _ in range(self.random.randrange(3))) + ")"
        return self.expression(depth - 1) if depth > 0 else "items"

    def atom(self):
        kind = self.random.randrange(10)
        if kind < 3:
            return self.string()
        if kind < 5:
            return self.number()
        return self.pick(NAMES)

    def arguments(self, *parts):
        return "(" + ", ".join(part for part in parts if part) + ")"

    def filter(self, depth):
        """A filter with arguments, and the kind of value that it is for."""
        text = lambda: self.texts(depth)
        flag = lambda: self.pick(["true", "false", "1", "''"])
        small = self.small
        rows = [
            ("text", lambda: "replace" + self.arguments(text(), text(), self.pick(["", small(), "count=1"]))),
            ("text", lambda: "trim" + self.arguments(self.pick(["", text(), "chars=' a'", "none"]))),
            ("text", lambda: "indent" + self.arguments(self.pick(["2", "width=3"]), self.pick(["", "first=true"]))),
            ("text", lambda: "int" + self.arguments(self.pick(["", "7", "default=none"]))),
            ("text", lambda: "format" + self.arguments(self.pick(["", text()]), self.pick(["", self.atom()]))),
            ("text", lambda: "default" + self.arguments(text(), self.pick(["", flag(), "boolean=true"]))),
            ("any", lambda: "default" + self.arguments("default_value=" + self.atom(), self.pick(["", "boolean=" + flag()]))),
            ("any", lambda: "d" + self.arguments(self.atom(), flag())),
            ("any", lambda: "tojson" + self.arguments(self.pick(["", "indent=2", "indent=0", "true", "ensure_ascii=true"]), self.pick(["", "separators=(',', ':')", "separators=none"]))),
            ("list", lambda: "join" + self.arguments(self.pick(["", text(), "d='-'", "1"]))),
            ("list", lambda: "sort" + self.arguments(self.pick(["", "attribute='role'", "attribute='content'"]))),
            ("list", lambda: "map" + self.arguments(self.pick(["'upper'", "attribute='role'", "'default', 'z'",
                                                               "'replace', 'a', 'b'", "'length'", "", "'nosuch'", "attribute='content'"])) + self.pick(["|list", "|join(',')", "|first"])),
            ("list", lambda: self.pick(["select", "reject"]) + self.arguments(self.pick(["", "'string'", "'eq', 1", "'in', items", "'equalto', 'a'", "'nosuch'"])) + "|list"),
            ("list", lambda: self.pick(["selectattr", "rejectattr"]) + self.arguments(self.pick(["'role'", "'role', 'equalto', 'user'", "'content', 'defined'", "'nope', 'defined'",
                                                                                                "'role', 'in', ['user', 'tool']", "'role', 'eq', x", "'nope.a'", "'role', '==', 'system'", ""])) + self.pick(["|list", "|list|length", "|first"])),
            ("dict", lambda: "dictsort"),
            ("dict", lambda: "items|list"),
        ]
        kind, make = self.pick(rows)
        own = {"text": text, "any": lambda: self.expression(depth - 1), "list": lambda: self.listed(depth),
               "dict": lambda: self.pick(["d", "d", "messages[0]", "{'b': 1, 'A': 2}"])}[kind]()
        made = make().replace("(, ", "(").replace("()", "") if self.chance(0.97) else make()
        return f"{own}|{made}"

    def method(self, depth):
        text = self.texts(depth)
        part = lambda: self.pick(["'a'", "'b'", "'X'", "','", "' '", "''", "none", "'é'", "1", self.string()])
        call = self.pick([
            lambda: f"split({part()}{self.pick(['', ', 1', ', 0', ', -1', ', maxsplit=1'])})",
            lambda: f"split(sep={part()})", lambda: "split(none, 1)", lambda: "split(maxsplit=1)",
            lambda: f"{self.pick(['startswith', 'endswith', 'find', 'rfind'])}({part()})",
            lambda: f"replace({part()}, {part()}{self.pick(['', ', 1', ', 0', ', -1'])})",
            lambda: f"{self.pick(['strip', 'lstrip', 'rstrip'])}({part()})", lambda: self.rarely(REFUSED_METHODS, METHODS)])()
        return f"{text if self.chance(0.8) else self.atom()}.{call}"

    def expression(self, depth=3):
        if depth <= 0:
            return self.atom()
        inner = lambda: self.expression(depth - 1)
        kinds = [
            (6, self.atom), (8, lambda: self.filter(depth)), (6, lambda: self.method(depth)),
            (3, lambda: f"{inner()}|{self.rarely(REFUSED_FILTERS, PLAIN_FILTERS)}"), (3, lambda: f"{self.listed(depth)}|{self.pick(PLAIN_FILTERS)}"),
            (2, lambda: f"{self.number(depth)} {self.pick(['+', '-', '*', '%'])} {self.number(depth)}"),
            (2, lambda: f"{inner()} {self.pick(['+', '-', '*', '%', '~', '~'])} {inner()}"),
            (2, lambda: f"{self.texts(depth)} {self.pick(['+', '~'])} {self.texts(depth)}"),
            (2, lambda: f"{inner()} {self.pick(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in', 'and', 'or'])} {inner()}"),
            (1, lambda: f"{self.number()} {self.pick(['<', '<=', '=='])} {self.number()} {self.pick(['<', '!=', '>'])} {self.number()}"),
            (2, lambda: f"{inner()} is {self.pick(['', 'not '])}{self.rarely(REFUSED_TESTS, TESTS)}"),
            (1, lambda: f"{inner()} is {self.pick(['', 'not '])}{self.pick(TESTS_WITH)}{self.pick([' ' + self.atom(), '(' + inner() + ')'])}"),
            (1, lambda: f"not {inner()}"), (1, lambda: f"-{self.number(depth)}"),
            (2, lambda: f"({inner()})"), (2, lambda: f"{inner()} if {inner()} else {inner()}"), (1, lambda: f"{inner()} if {inner()}"),
            (1, lambda: "[" + ", ".join(inner() for _ in range(self.random.randrange(4))) + "]"),
            (1, lambda: "{" + ", ".join(f"{self.pick([self.string(), self.string(), self.number()])}: {inner()}" for _ in range(self.random.randrange(3))) + "}"),
            (1, lambda: "(" + ", ".join(inner() for _ in range(self.random.randrange(3))) + ")"),
            (2, lambda: f"{self.pick(['s', 'items', 'messages', 'm.content', self.string(), 'x', 'range(5)'])}[{self.pick(['0', '-1', '1:', ':2', '::2', '::-1', '1:-1', '5', '-9:9:3', 'x', '::0', '2::-1'])}]"),
            (1, lambda: f"{inner()}.{self.pick(['a', 'role', 'k', 'length', 'items', '0'])}"),
            (1, lambda: f"d.get({self.string()}{self.pick(['', ', ' + self.atom()])})"),
            (1, lambda: f"f({self.pick(['', inner(), 'a=' + inner(), inner() + ', b=2', '1, 2, 3', 'c=1', '*' + self.listed(1), '1, *' + self.listed(1), '*items, b=1'])})"),
            (1, lambda: f"{self.pick(['range', 'dict', 'namespace', 'nope'])}({self.pick(['', '3', '1, 4', '5, 0, -2', 'a=1', '1, 2, 0', 'd', '*[1, 3]'])})"),
            (1, lambda: f"loop.{self.pick(['index', 'index0', 'first', 'last', 'length', 'previtem', 'nextitem', 'nope'])}"),
        ]
        weights = [weight for weight, _ in kinds]
        return self.random.choices([make for _, make in kinds], weights)[0]()

    def tag(self, text):
        return "{%" + self.pick(["", "", "", "-", "+"]) + f" {text} " + self.pick(["", "", "", "-"]) + "%}"

    def data(self):
        return self.pick(["", "", "", "a", " ", "\n", "\n\n", "  \n  ", " b ", "\n  c", "\t", "\r\n", "{", "%}", "\u00a0", "{# c #}", "{#- c -#}",
                          "{% raw %} {{ r }}\n {% endraw %}", "  {# c #}\n"])

    def output(self, depth=3):
        return "{{" + self.pick(["", "-", " ", " "]) + " " + self.expression(depth) + " " + self.pick(["", "", "-"]) + "}}"

    def block(self, depth, in_loop=False):
        return "".join(self.data() + self.statement(depth, in_loop) for _ in range(self.random.randrange(1, 3))) + self.data()

    def statement(self, depth, in_loop=False):
        if depth <= 0:
            return self.output(2)
        body = lambda loop=in_loop: self.block(depth - 1, loop)
        name = lambda: self.pick(["x", "y", "s", "n", "z", "items"])
        kinds = [
            (8, lambda: self.output()),
            (3, lambda: self.tag(f"set {name()} = {self.expression()}")),
            (1, lambda: self.tag(f"set {name()}, {name()} = {self.pick(['1, 2', self.expression(1), 'pairs[0]', 'items[:2]'])}")),
            (1, lambda: self.tag(f"set ns.{self.pick('abc')} = {self.expression(2)}")),
            (1, lambda: self.tag("set " + name()) + body() + self.tag("endset")),
            (3, lambda: self.tag(f"if {self.expression(2)}") + body() + (self.tag(f"elif {self.expression(1)}") + body() if self.chance(0.3) else "")
             + (self.tag("else") + body() if self.chance(0.5) else "") + self.tag("endif")),
            (3, lambda: self.tag(f"for {self.pick(['m', 'm', 'x', 'a, b', 'y'])} in {self.pick(['messages', 'messages', self.listed(1), 'pairs', 'd.items()', self.expression(1)])}"
                                 + (f" if {self.expression(1)}" if self.chance(0.25) else "")) + body(True) + (self.tag("else") + body() if self.chance(0.2) else "") + self.tag("endfor")),
            (1, lambda: self.tag("macro " + self.pick(["f(a)", "f(a, b=1)", "g()", "f(a='x', b=a)"])) + body(False) + self.tag("endmacro") + "{{ f(1) }}"),
            (1, lambda: self.tag("generation") + body(False) + self.tag("endgeneration")),
            (1, lambda: self.tag(self.pick(["break", "continue"])) if in_loop or self.chance(0.05) else self.output(1)),
        ]
        weights = [weight for weight, _ in kinds]
        return self.random.choices([make for _, make in kinds], weights)[0]()

    def scopes(self, depth, in_loop=False):
        """Names that are set and read in scopes of all kinds."""
        name = lambda: self.pick(["a", "b", "x", "s", "f"])
        value = lambda: self.pick(["1", "2", "'v'", name(), name() + " ~ 1", "[" + name() + "]", "ns.a"])
        inner = lambda loop=in_loop: self.scopes(depth - 1, loop)
        parts = []
        for _ in range(self.random.randrange(1, 5)):
            kinds = [lambda: "{{ " + self.pick([name(), "ns.a", "loop.index", name() + " is defined"]) + " }};", lambda: "{{ " + name() + " }},",
                     lambda: "{% set " + name() + " = " + value() + " %}", lambda: "{% set ns.a = " + value() + " %}"]
            if depth > 0:
                kinds += [lambda: "{% for " + name() + " in " + self.pick(["[1, 2]", "[3]", "[]", name(), "'xy'"]) + self.pick(["", "", " if " + value()]) + " %}" + inner(True)
                          + self.pick(["", "{% else %}" + inner()]) + "{% endfor %}",
                          lambda: "{% if " + value() + " %}" + inner() + self.pick(["", "{% else %}" + inner(), "{% elif " + value() + " %}" + inner()]) + "{% endif %}",
                          lambda: "{% macro f(" + self.pick(["", "a", "a, b=x", "a=b", "x=1"]) + ") %}" + self.scopes(depth - 1) + "{% endmacro %}{{ f(" + self.pick(["", "1", "2, 3"]) + ") }}",
                          lambda: "{% set " + name() + " %}" + inner() + "{% endset %}",
                          lambda: "{% generation %}" + self.scopes(depth - 1) + "{% endgeneration %}"]
            if in_loop:
                kinds.append(lambda: "{% if " + value() + " == 1 %}{% " + self.pick(["break", "continue"]) + " %}{% endif %}")
            parts.append(self.pick(kinds)())
        return "".join(parts)

    def layout(self):
        """Tags, white space and signs around them."""
        space = lambda: "".join(self.pick(["\n", "\n", " ", "\t", "a", "  ", "\r\n", "\r", "\u00a0", "\x0b", ""]) for _ in range(self.random.randrange(4)))
        sign = lambda: self.pick(["", "", "", "-", "+"])
        end = lambda: self.pick(["", "", "", "-", "+"])
        one = lambda: self.pick([
            lambda: "{%" + sign() + " if true " + end() + "%}" + space() + "{%" + sign() + space() + "endif" + space() + end() + "%}",
            lambda: "{{" + sign() + space() + self.pick(["1", "'q\n'", "{'a': {}}", "-1", "'}}'", "'%}'"]) + space().replace("a", "") + self.pick(["", "-"]) + "}}",
            lambda: "{#" + sign() + space() + "-" + space() + end() + "#}", lambda: "{%" + sign() + " set a = {'b': '%}'} " + end() + "%}",
            lambda: "{%" + sign() + space().replace("a", "") + "raw" + self.pick([" ", "", "\n"]) + self.pick(["", "-"]) + "%}" + space() + "{{ {% {#" + space() + "{%" + sign() + " endraw " + end() + "%}"])()
        return "".join(space() + one() for _ in range(self.random.randrange(1, 4))) + space() + self.pick(["", "{", "{ {", "%}", "}}", "#}"])

    def literals(self):
        """Strings with escapes and numbers, as they may be written."""
        piece = lambda: self.pick(["a", "\\n", "\\x41", "\\u00e9", "\\U0001F600", "\\q", "\\'", "\\\"", "\\\\", "\\\n", "é", "织", "\r\n", "\\t\\v", "\\xg", "{{", "%}", "\\N{DASH}"])
        quote = self.pick("'\"")
        text = quote + "".join(piece() for _ in range(self.random.randrange(5))) + quote
        digit = lambda: self.pick(["0", "1", "7", "9", ".", "1", "12", "5", "e", "_"])
        number = "".join(digit() for _ in range(self.random.randrange(1, 5)))
        return "{{ " + self.pick([text, number, text + "|list", text + "|tojson", "[" + text + "]", number + " + 1", text + "|tojson(true)",
                                  "[" + number + ", " + text + "]", "x." + number, text + " " + text]) + " }}"

    def template(self):
        mode = self.random.random()
        if mode < 0.2:
            return "{% set ns = namespace(a=0) %}" + self.scopes(3)
        if mode < 0.3:
            return self.layout()
        if mode < 0.35:
            return self.literals()
        if mode < 0.65:
            text = self.pick(["", "{% for m in messages %}"])
            return text + self.output(self.pick([1, 2, 2, 3])) + ("{% endfor %}" if text else "")
        begin = self.pick(["", "{% set ns = namespace(a=1, b='x') %}", "{% macro f(a, b='d') %}[{{ a }}{{ b }}]{% endmacro %}",
                           "{% set s = ' Some text ' %}{% set x = 3 %}"])
        return begin + self.block(3) + self.pick(["", "", "\n", "\r\n"])

    def variables(self):
        roles = ["system", "user", "assistant", "tool"]
        contents = ["Hi", " Be brief. ", "a\nb", "Ünï \"q\" <b>", "", "织", "user"]
        messages = [{"role": self.pick(roles), "content": self.pick(contents)} for _ in range(self.random.randrange(4))]
        if self.chance(0.2) and messages:
            messages[-1]["tool_calls"] = [{"function": {"name": "f", "arguments": {"a": 1, "b": [1.5, None, True]}}}]
        return {"messages": messages, "add_generation_prompt": self.chance(0.5), "tools": None, "documents": None,
                "bos_token": "<s>", "m": {"role": "user", "content": "Hello, World"}, "x": self.pick([1, "a", None, 2.5]),
                "s": self.pick(["abc", " Text with words ", "a,b,c"]), "n": self.pick([0, 3, -7, 2.5]),
                "d": {"k": "v", "n": 1, "B": [1, 2]}, "items": self.pick([[3, 1, 2], ["b", "A", "a"], [], [1, "a"]]),
                "pairs": [["a", 1], ["b", 2]]}
