"""Regular expressions, and texts that tell dialects apart, for compare_patterns.py and
tests/golden/write_patterns.py."""

# Of real files: GPT-2, Llama 3, Qwen 2, o200k, DeepSeek, BLOOM, StarCoder, CLIP, and others.
REAL = [
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    r"\p{N}{1,3}", r"[一-龥぀-ゟ゠-ヿ]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    r" ?[^(\s|[.,!?…。，、।۔،])]+", r" ?[^(\\s|[.,!?…。，、।۔،])]+",
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+",
    r"[\r\n]", r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-Ֆ]+", r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
    r"\s+$", r"[一-龥ࠀ-一가-퟿]+", r" {2,}", r"\w+|[^\w\s]+", r"[^\n]+|[\n]+", r"\d", r"(?=\d)", r"\s*\n",
]
# What the dialects of regular expressions disagree about.
CHOSEN = [
    # classes
    r"\w", r"\w+", r"\W+", r"\s", r"\S+", r"\d+", r"\D+", r"\h", r"\h+", r"\H+", r"\R", r"\X", r"\O", r"\N", r".", r".+",
    r"[\w]+", r"[^\w]+", r"[\W]", r"[\h]+", r"[^\h]", r"[\d\s]+", r"[^\d\s]+", r"[[:alpha:]]+", r"[[:^alpha:]]+",
    r"[[:space:]]+", r"[[:punct:]]+", r"[[:^punct:]]+", r"[^[:punct:]a]+", r"[a[:^punct:]]", r"[:punct:]+", r"[[:word:]]+", r"[[:digit:]]", r"[[:alnum:]]+", r"[[:upper:]]+", r"[[:lower:]]+",
    r"[[:cntrl:]]", r"[[:graph:]]+", r"[[:print:]]+", r"[[:blank:]]+", r"[[:xdigit:]]+", r"[[:ascii:]]+", r"[:alpha:]+",
    r"[a-z&&[^aeiou]]+", r"[\w&&[^\d]]+", r"[a-c[x-z]]+", r"[^a-c[x-z]]+", r"[a&&b]", r"[&&a]", r"[a-]+", r"[]a]+", r"[^]a]+",
    r"[a\]b]+", r"[\p{L}&&\p{ASCII}]+", r"[a-\d]+", r"[\x{61}-\x{63}]+", r"[\x61-\x63]+", r"\x{1F600}", r"\u0065\u0301", r"\u0041",
    # properties
    r"\p{L}+", r"\P{L}+", r"\p{^L}+", r"\P{^L}+", r"\pL+", r"\p{Lu}", r"\p{Ll}+", r"\p{M}", r"\p{Mn}+", r"\p{N}+", r"\p{Nd}+", r"\p{Nl}",
    r"\p{No}", r"\p{P}+", r"\p{Ps}", r"\p{S}+", r"\p{Sc}", r"\p{Z}+", r"\p{Zs}", r"\p{C}+", r"\p{Cc}", r"\p{Cf}", r"\p{Cn}", r"\p{Co}",
    r"\p{Han}+", r"\p{Hiragana}+", r"\p{Katakana}+", r"\p{Cyrillic}+", r"\p{Greek}+", r"\p{Latin}+", r"\p{Arabic}+", r"\p{Hangul}+",
    r"\p{Thai}+", r"\p{Devanagari}+", r"\p{Common}+", r"\p{Inherited}+", r"\p{Alphabetic}+", r"\p{White_Space}+", r"\p{Letter}+",
    r"\p{Uppercase_Letter}", r"\p{alpha}+", r"\p{Emoji}+", r"\p{InBasicLatin}+", r"\p{In_Cyrillic}+", r"\p{Script=Han}", r"\p{Nope}", r"\p{L", r"\pZ",
    r"\p{Extended_Pictographic}", r"\p{ID_Start}+", r"\p{Any}", r"\p{Assigned}+", r"\p{Dash}+", r"\p{lu}", r"\p{ L u }",
    # anchors and lines
    r"^", r"$", r"^.", r".$", r"^\s", r"\s$", r"\A.", r".\z", r".\Z", r"\Z", r"\G.", r"\Ga", r"(?m).+", r"(?s).+", r"(?i)straße", r"(?m:.)", r"(?-m).",
    r"\b", r"\B", r"\b\w", r"\w\b", r"\y", r"\Y", r"\n", r"\r\n|\n|\r", r"^$", r"\A\s+", r"\s+\z", r"(?x) a \s b # and more",
    # quantifiers
    r"a{2}", r"a{,3}", r"a{2,}", r"a{2,3}", r"a{2,3}?", r"a{3,2}", r"a{", r"a{x}", r"a{,}", r"a{ 1}", r"a*", r"a*?", r"a+?", r"a??", r"a?", r"a*+", r"a++",
    r"a?+", r"a{2}+", r"(?:ab){2,}", r"a**", r"(a*)*", r"(a|b)*?c", r"x{0}", r"(?:)", r"",
    # groups
    r"(?:a|b)+", r"(a)(b)?", r"(?<name>a)\k<name>", r"(a)\1", r"(?<a>x)(y)", r"\k<1>", r"(?'q'a)", r"(?P<n>a)", r"(?>a+)b", r"(?>a|ab)c", r"(?i)[a-c]+",
    r"(?i:A)b", r"a(?i)b", r"(?i)ss", r"(?i)ß", r"(?i)ſ", r"(?i)ﬁ", r"(?i)K", r"(?i)\u0130", r"(?i)[^a]", r"(?i)σ", r"(?i)[[:upper:]]", r"(?i)'S|'LL",
    r"(?=a)", r"(?!a)", r"(?<=a)b", r"(?<!a)b", r"(?<=a|bc)\w", r"(?<=a+)b", r"(?<=\s)\w+", r"(?<!\w)\w", r"a(?=b)", r"a(?!b)", r"(?~ab)", r"(?(1)a|b)", r"(a)?(?(1)b|c)",
    r"(?#comment)a", r"(?a)", r"(?W)\w+", r"(?S)\s", r"(?D)\d", r"(?P)[[:alpha:]]+", r"(?y{g})\X", r"(?y{w})\X", r"\Ka", r"a\Kb", r"(?=a\K)",
    r"(a|b|\g<1>c)", r"(?<x>\(\g<x>*\))", r"\g<0>?a", r"(*FAIL)|a", r"(?{x})a", r"(?i)(?<=ß)a", r"a|", r"|a", r"(|a)", r"(a", r"a)", r"[a", r"*", r"+a", r"?", r"\\", "\\",
    # escapes
    r"\t", r"\v", r"\f", r"\e", r"\a", r"\0", r"\012", r"\x0A", r"\xE9", r"\x{e9}", r"\cA", r"\C-a", r"\M-a", r"\o{101}", r"\q", r"\_", r"\-", r"\/", r"\ ", r"\é", r"\Qa.b\E", r"\U0041",
    # spaces
    r"[ \t]+", r" ", r"\x{A0}", r"\x{180E}", r"[\x{2000}-\x{200B}]+", r"\s(?=\S)", r"(?<=\S)\s", r"[^ ]+", r"[\s]", r"[^\s]+", r"[\S]+", r"[^\S]+", r"\s{2,}",
    r"\u{1F600}", r"\p{Cs}", r"[\x{D800}-\x{DFFF}]", r"😀+", r"[😀-😂]", r"é", r"e\u0301", r"[é]", r"日本|本",
]
# Versions of Oniguruma understand them differently, so weft refuses them.
UNCERTAIN = [r"\p{word}+", r"\P{W o_rd}", r"\p{^Punct}", r"(?L)a+|ab", r"(?LC)a"]
EXPRESSIONS = list(dict.fromkeys(REAL + CHOSEN))

TEXTS = [
    "", " ", "a", "ab", "aab abb a{2} aaaa", "abcabc  xyz", "Hello, world!  It's 2026-11-24, I'LL go.", "e\u0301te\u0301 e\u0301\u0302 \u0301x",
    "क्षत्रिय हिन्दी", "สวัสดี ครับ", "日本語テキスト、カタカナー々〆漢字。", "한국어 각 \u1100\u1161\u11a8", "Привет, мир! ёЁ", "ΣΊΣΥΦΟΣ σς", "Straße STRASSE straſſe ẞ ß ss",
    "ﬁle ﬀ K Å İstanbul ı", "a\u180eb\u200bc\u200dd\ufeffe", "x\u00a0y\u3000z\u2028w\u2029v\u0085u", "line one\nline two\n\nline four\n", "a\r\nb\rc\nd  \n  e\t\tf\v\f", "\n\n", "\r\n",
    "don’t “quote” …—–-", "1234567890 ٣٤٥ ½ Ⅷ ① ²", "👩‍👩‍👧‍👦 🇩🇪 😀😂 ❤️", "snake_case camelCase Title_Case", "a.b/c\\d-e+f*g?h", "((a)(b)) [x] {y}", "\x00\x01\x1b\x7f\x9f", "ªºÀ×÷ø",
    "خيط عربي ـ ۱۲۳", "\u0345\u1ab0\u20d0a\u20dd", "aaaaaaaaaaaaaaaaaaaa!", "Ⓐⓑ🄰 ⅳ‿_⁀", "foo bar  baz   qux    ", "  leading", "\ue000\U000f0000 \u0378", "ab\nab\nAB Ab", "K k ſ s S",
]
BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
