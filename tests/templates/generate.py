"""Random chat templates: expressions and statements of Jinja, most of them with a meaning, some
without one."""

import random

STRINGS = ["''", "'a'", "'b'", "'abc'", "' a  b '", "'x,y,,z'", "'é'", "'Straße'", "'\\u00a0nbsp\\u2003'",
           "'line\\nnext\\r\\nlast'", "'it\\'s'", "'\"q\"'", "'<b>&</b>'", "'12'", "'-3.5'", "'1e3'",
           "'abcabc'", "'织 weft'", "'\\x41\\t'", "'A' 'b'", "'Hello World foo-bar'", "'%s'", "'0x1f'",
           "'  '", "'aXbXc'", "'user'", "'_1_000'", "'e\\u0301'", "'ǆ ß'", "'Σας'", "'\\\\d'", "'½'"]
NUMBERS = ["0", "1", "2", "3", "-1", "-2", "10", "1.5", "2.0", "-0.5", "1e3", "1e20", "0.1", "7", "100",
           "0x10", "1_000", "1e-7", "9007199254740993"]
NAMES = ["messages", "m", "x", "s", "n", "d", "items", "pairs", "nope", "none", "true", "false",
         "add_generation_prompt", "bos_token", "tools", "ns", "ns.a", "m.content", "m.role", "m['role']",
         "m.nope", "messages[0]", "messages[-1].content", "loop.index", "loop.first", "loop.last", "d.k",
         "d['n']", "nope.a", "none.a", "range(3)", "f(x)", "loop.previtem", "loop.revindex"]
TESTS = ["defined", "undefined", "none", "string", "mapping", "number", "integer", "float", "boolean",
         "true", "false", "iterable", "sequence", "callable", "odd", "even", "lower", "upper", "escaped"]
TESTS_WITH = ["eq", "equalto", "ne", "lt", "le", "gt", "ge", "greaterthan", "lessthan", "in",
              "divisibleby", "sameas"]
PLAIN_FILTERS = ["length", "count", "upper", "lower", "title", "capitalize", "trim", "first", "last",
                 "list", "string", "int", "float", "abs", "round", "tojson", "sort", "unique|list",
                 "reverse", "reverse|list", "sum", "min", "max", "join", "items|list", "dictsort", "e",
                 "escape", "safe", "wordcount", "urlencode", "center(9)", "d", "default", "forceescape",
                 "indent", "string|length", "list|length", "nosuch"]
METHODS = ["strip()", "lstrip()", "rstrip()", "split()", "rsplit()", "splitlines()", "upper()", "lower()",
           "title()", "capitalize()", "isdigit()", "isalpha()", "isspace()", "isupper()", "islower()",
           "isalnum()", "isnumeric()", "items()", "keys()", "values()", "keys()|list", "values()|list",
           "items()|list", "encode()", "append(1)", "copy()", "isascii()", "isdecimal()", "nope()"]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, choices):
        return self.random.choice(choices)

    def chance(self, probability):
        return self.random.random() < probability

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
            ("text", lambda: "indent" + self.arguments(self.pick(["2", "'> '", "width=3"]),
                                                       self.pick(["", "first=true"]), self.pick(["", "blank=true"]))),
            ("text", lambda: "truncate" + self.arguments(self.pick(["5", "length=4"]), self.pick(["", "killwords=true"]),
                                                         self.pick(["", "end='.'"]), self.pick(["", "leeway=0"]))),
            ("text", lambda: "center" + self.arguments(self.pick(["7", "width=8", small()]))),
            ("text", lambda: "int" + self.arguments(self.pick(["", "7", "default=none", "base=10", "3, 16"]))),
            ("text", lambda: "float" + self.arguments(self.pick(["", "1.5", "default='x'"]))),
            ("text", lambda: "default" + self.arguments(text(), self.pick(["", flag(), "boolean=true"]))),
            ("any", lambda: "default" + self.arguments("default_value=" + self.atom(), self.pick(["", "boolean=" + flag()]))),
            ("any", lambda: "d" + self.arguments(self.atom(), flag())),
            ("any", lambda: "tojson" + self.arguments(self.pick(["", "indent=2", "indent='-'", "indent=0", "true", "ensure_ascii=true"]),
                                                      self.pick(["", "sort_keys=true"]), self.pick(["", "separators=(',', ':')", "separators=none"]))),
            ("list", lambda: "join" + self.arguments(self.pick(["", text(), "d='-'", "1"]), self.pick(["", "attribute='role'", "attribute=0"]))),
            ("list", lambda: "sort" + self.arguments(self.pick(["", "reverse=true", "true"]), self.pick(["", "case_sensitive=true"]),
                                                     self.pick(["", "attribute='role'", "attribute='role,content'", "attribute=0"]))),
            ("list", lambda: "unique" + self.arguments(self.pick(["", "true", "attribute='role'"])) + "|list"),
            ("list", lambda: self.pick(["min", "max"]) + self.arguments(self.pick(["", "case_sensitive=true", "attribute='content'"]))),
            ("list", lambda: "sum" + self.arguments(self.pick(["", "attribute=1", "start=10", "start=[]"]))),
            ("list", lambda: "batch" + self.arguments(self.pick(["2", "linecount=3", small()]), self.pick(["", "'_'", "fill_with=0"])) + "|list"),
            ("list", lambda: "slice" + self.arguments(self.pick(["2", "slices=3", small()]), self.pick(["", "'_'"])) + "|list"),
            ("list", lambda: "groupby" + self.arguments(self.pick(["'role'", "attribute='content'", "0"]), self.pick(["", "default='z'"]))),
            ("list", lambda: "map" + self.arguments(self.pick(["'upper'", "attribute='role'", "attribute='nope', default='x'", "'default', 'z'",
                                                               "'replace', 'a', 'b'", "attribute='0'", "'length'", "", "'nosuch'", "attribute='content'"])) + self.pick(["|list", "|join(',')", "|first"])),
            ("list", lambda: self.pick(["select", "reject"]) + self.arguments(self.pick(["", "'string'", "'eq', 1", "'in', items", "'odd'", "'gt', 1", "'equalto', 'a'", "'nosuch'"])) + "|list"),
            ("list", lambda: self.pick(["selectattr", "rejectattr"]) + self.arguments(self.pick(["'role'", "'role', 'equalto', 'user'", "'content', 'defined'", "'nope', 'defined'",
                                                                                                "'role', 'in', ['user', 'tool']", "'role', 'eq', x", "0", "'nope.a'", "'role', '==', 'system'", ""])) + self.pick(["|list", "|list|length", "|first"])),
            ("number", lambda: "round" + self.arguments(self.pick(["", "1", "0", "2", "precision=1"]), self.pick(["", "method='ceil'", "method='floor'"]))),
            ("dict", lambda: "dictsort" + self.arguments(self.pick(["", "true"]), self.pick(["", "by='value'"]), self.pick(["", "reverse=true"]))),
            ("dict", lambda: "items|list"),
        ]
        kind, make = self.pick(rows)
        own = {"text": text, "any": lambda: self.expression(depth - 1), "list": lambda: self.listed(depth),
               "number": lambda: self.number(depth), "dict": lambda: self.pick(["d", "d", "messages[0]", "{'b': 1, 'A': 2}"])}[kind]()
        made = make().replace("(, ", "(").replace("()", "") if self.chance(0.97) else make()
        return f"{own}|{made}"

    def method(self, depth):
        text = self.texts(depth)
        part = lambda: self.pick(["'a'", "'b'", "'X'", "','", "' '", "''", "none", "'é'", "1", self.string()])
        place = lambda: self.pick(["", ", 1", ", -1", ", 0, 2", ", none, 3", ", 9"])
        call = self.pick([
            lambda: f"split({part()}{self.pick(['', ', 1', ', 0', ', -1', ', maxsplit=1'])})",
            lambda: f"rsplit({part()}{self.pick(['', ', 1', ', 2'])})",
            lambda: f"split(sep={part()})", lambda: "split(none, 1)", lambda: "rsplit(none, 1)", lambda: "split(maxsplit=1)",
            lambda: f"{self.pick(['startswith', 'endswith'])}({self.pick([part(), '(' + chr(39) + 'a' + chr(39) + ', ' + part() + ')'])}{place()})",
            lambda: f"{self.pick(['find', 'rfind', 'index', 'count', 'rindex'])}({part()}{place()})",
            lambda: f"replace({part()}, {part()}{self.pick(['', ', 1', ', 0', ', -1'])})",
            lambda: f"{self.pick(['strip', 'lstrip', 'rstrip'])}({part()})",
            lambda: f"join({self.listed(0)})", lambda: f"{self.pick(['center', 'ljust', 'rjust'])}(6{self.pick(['', ', ' + part()])})",
            lambda: f"zfill({self.small()})", lambda: f"{self.pick(['partition', 'rpartition', 'removeprefix', 'removesuffix'])}({part()})",
            lambda: f"splitlines({self.pick(['', 'true', 'keepends=true'])})", lambda: self.pick(METHODS)])()
        return f"{text if self.chance(0.8) else self.atom()}.{call}"

    def expression(self, depth=3):
        if depth <= 0:
            return self.atom()
        inner = lambda: self.expression(depth - 1)
        kinds = [
            (6, self.atom), (8, lambda: self.filter(depth)), (6, lambda: self.method(depth)),
            (3, lambda: f"{inner()}|{self.pick(PLAIN_FILTERS)}"), (3, lambda: f"{self.listed(depth)}|{self.pick(PLAIN_FILTERS)}"),
            (2, lambda: f"{self.number(depth)} {self.pick(['+', '-', '*', '/', '//', '%', '**'])} {self.number(depth)}"),
            (2, lambda: f"{inner()} {self.pick(['+', '-', '*', '/', '//', '%', '~', '~'])} {inner()}"),
            (2, lambda: f"{self.texts(depth)} {self.pick(['+', '~'])} {self.texts(depth)}"),
            (2, lambda: f"{inner()} {self.pick(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in', 'and', 'or'])} {inner()}"),
            (1, lambda: f"{self.number()} {self.pick(['<', '<=', '=='])} {self.number()} {self.pick(['<', '!=', '>'])} {self.number()}"),
            (2, lambda: f"{inner()} is {self.pick(['', 'not '])}{self.pick(TESTS)}"),
            (1, lambda: f"{inner()} is {self.pick(['', 'not '])}{self.pick(TESTS_WITH)}{self.pick([' ' + self.atom(), '(' + inner() + ')'])}"),
            (1, lambda: f"not {inner()}"), (1, lambda: f"-{self.number(depth)}"), (1, lambda: f"+{self.atom()}"),
            (2, lambda: f"({inner()})"), (2, lambda: f"{inner()} if {inner()} else {inner()}"), (1, lambda: f"{inner()} if {inner()}"),
            (1, lambda: "[" + ", ".join(inner() for _ in range(self.random.randrange(4))) + "]"),
            (1, lambda: "{" + ", ".join(f"{self.pick([self.string(), self.string(), self.number()])}: {inner()}" for _ in range(self.random.randrange(3))) + "}"),
            (1, lambda: "(" + ", ".join(inner() for _ in range(self.random.randrange(3))) + ")"),
            (2, lambda: f"{self.pick(['s', 'items', 'messages', 'm.content', self.string(), 'x', 'range(5)'])}[{self.pick(['0', '-1', '1:', ':2', '::2', '::-1', '1:-1', '5', '-9:9:3', 'x', '::0', '2::-1'])}]"),
            (1, lambda: f"{inner()}.{self.pick(['a', 'role', 'k', 'length', 'items', '0'])}"),
            (1, lambda: f"d.get({self.string()}{self.pick(['', ', ' + self.atom()])})"),
            (1, lambda: f"f({self.pick(['', inner(), 'a=' + inner(), inner() + ', b=2', '1, 2, 3', 'c=1'])})"),
            (1, lambda: f"{self.pick(['range', 'dict', 'namespace', 'nope'])}({self.pick(['', '3', '1, 4', '5, 0, -2', 'a=1', '1, 2, 0', 'd'])})"),
            (1, lambda: f"loop.{self.pick(['index', 'index0', 'revindex', 'revindex0', 'first', 'last', 'length', 'previtem', 'nextitem', 'depth', 'depth0', 'nope'])}"),
            (1, lambda: f"loop.{self.pick(['cycle', 'changed'])}({self.pick(['', 'x', repr('a') + ', 1', 'm.role'])})"),
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
            (1, lambda: self.tag("set " + name() + self.pick(["", "|upper", "|trim|length"])) + body() + self.tag("endset")),
            (3, lambda: self.tag(f"if {self.expression(2)}") + body() + (self.tag(f"elif {self.expression(1)}") + body() if self.chance(0.3) else "")
             + (self.tag("else") + body() if self.chance(0.5) else "") + self.tag("endif")),
            (3, lambda: self.tag(f"for {self.pick(['m', 'm', 'x', 'a, b', 'y'])} in {self.pick(['messages', 'messages', self.listed(1), 'pairs', 'd.items()', self.expression(1)])}"
                                 + (f" if {self.expression(1)}" if self.chance(0.25) else "")) + body(True) + (self.tag("else") + body() if self.chance(0.2) else "") + self.tag("endfor")),
            (1, lambda: self.tag("macro " + self.pick(["f(a)", "f(a, b=1)", "g()", "f(a='x', b=a)"])) + body(False) + self.tag("endmacro") + "{{ f(1) }}"),
            (1, lambda: self.tag(f"with {name()} = {self.expression(1)}") + body() + self.tag("endwith")),
            (1, lambda: self.tag("filter " + self.pick(["upper", "trim", "replace('a', 'b')", "nosuch"])) + body() + self.tag("endfilter")),
            (1, lambda: self.tag("generation") + body(False) + self.tag("endgeneration")),
            (1, lambda: self.tag(self.pick(["break", "continue"])) if in_loop or self.chance(0.05) else self.output(1)),
            (1, lambda: self.tag("print " + self.expression(1))),
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
                          lambda: "{% with " + name() + " = " + value() + " %}" + inner() + "{% endwith %}",
                          lambda: "{% set " + name() + " %}" + inner() + "{% endset %}", lambda: "{% filter upper %}" + inner() + "{% endfilter %}",
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
        piece = lambda: self.pick(["a", "\\n", "\\x41", "\\u00e9", "\\U0001F600", "\\101", "\\0", "\\777", "\\q", "\\é", "\\'", "\\\"", "\\\\", "\\\n", "é", "织", "\r\n", "\\t\\v", "\\xg", "{{", "%}", "\\N{DASH}"])
        quote = self.pick("'\"")
        text = quote + "".join(piece() for _ in range(self.random.randrange(5))) + quote
        digit = lambda: self.pick(["0", "1", "7", "_", "9", ".", "e", "e-", "0x", "0b", "0o", "F", "E+", "1_0"])
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
