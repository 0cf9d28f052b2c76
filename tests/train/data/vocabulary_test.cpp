#include <weft/autograd/error.hpp>
#include <weft/train/data/vocabulary.hpp>
#include "tests/catch.hpp"

using namespace weft;

TEST_CASE("vocabulary: special symbols first, then the given ones in order", "[train]") {
  const Vocabulary vocabulary({"b", "a"});
  CHECK(vocabulary.size() == 6);
  CHECK(vocabulary.symbol(Vocabulary::pad) == "<pad>");
  CHECK(vocabulary.symbol(Vocabulary::bos) == "<bos>");
  CHECK(vocabulary.symbol(Vocabulary::eos) == "<eos>");
  CHECK(vocabulary.symbol(Vocabulary::unk) == "<unk>");
  CHECK(vocabulary.id("b") == 4);
  CHECK(vocabulary.id("a") == 5);
  CHECK(vocabulary.contains("a"));
}

TEST_CASE("vocabulary: an unknown symbol is <unk>", "[train]") {
  const Vocabulary vocabulary({"a"});
  CHECK(vocabulary.id("z") == Vocabulary::unk);
  CHECK_FALSE(vocabulary.contains("z"));
  CHECK(vocabulary.encode(std::vector<std::string>{"a", "z"}) == TokenIds{4, 3});
}

TEST_CASE("vocabulary: decoding stops at <eos> and skips <pad> and <bos>", "[train]") {
  const Vocabulary vocabulary({"a", "b"});
  CHECK(vocabulary.decode(TokenIds{1, 4, 0, 5, 3, 2, 4}) ==
        std::vector<std::string>{"a", "b", "<unk>"});
}

TEST_CASE("vocabulary: of texts, distinct symbols in sorted order", "[train]") {
  const std::vector<std::vector<std::string>> texts = {{"c", "a"}, {"b", "a"}, {}};
  CHECK(Vocabulary::of(texts) == Vocabulary({"a", "b", "c"}));
}

TEST_CASE("vocabulary: from_text inverts to_text", "[train]") {
  const Vocabulary vocabulary({"AA", "ə", " "});
  CHECK(vocabulary.to_text() == "AA\nə\n \n");
  CHECK(Vocabulary::from_text(vocabulary.to_text()) == vocabulary);
  CHECK(Vocabulary::from_text("") == Vocabulary());
}

TEST_CASE("vocabulary: invalid symbols and ids throw", "[train]") {
  CHECK_THROWS_WITH(
      Vocabulary({"a", "a"}),
      "vocabulary: expected distinct symbols other than the special symbols, got 'a' twice");
  CHECK_THROWS_AS(Vocabulary({"<pad>"}), ValueError);
  CHECK_THROWS_AS(Vocabulary({""}), ValueError);
  CHECK_THROWS_AS(Vocabulary::from_text("a\n\nb\n"), ValueError);
  CHECK_THROWS_WITH(Vocabulary({"a"}).symbol(5), "vocabulary: expected an id from 0 to 4, got 5");
  CHECK_THROWS_AS(Vocabulary().symbol(-1), ValueError);
  CHECK_THROWS_WITH(Vocabulary::plain({}).symbol(0),
                    "vocabulary: expected an id from an empty range, got 0");
}

TEST_CASE("vocabulary: plain, its ids are those of the order given", "[train]") {
  const Vocabulary plain = Vocabulary::plain({"b", "<pad>", "\n"});
  CHECK(plain.is_plain());
  CHECK(plain.size() == 3);
  CHECK(plain.id("\n") == 2);
  CHECK(plain.decode(TokenIds{1, 2, 0}) == std::vector<std::string>{"<pad>", "\n", "b"});
  CHECK_THROWS_AS(plain.id("c"), ValueError);
  CHECK_THROWS_AS(Vocabulary::plain({"a", "a"}), ValueError);
  CHECK_THROWS_AS(Vocabulary::plain({""}), ValueError);
  CHECK(Vocabulary::of_labels(std::vector<std::string>{"spam", "ham", "spam"}).id("spam") == 1);
}

TEST_CASE("vocabulary: the characters of a text, and back", "[train]") {
  const std::string text = "zwölf\nZeilen\\n";
  const Vocabulary characters = Vocabulary::of_characters(text);
  CHECK(characters.size() == 11);
  CHECK(characters.id("\n") == 0);
  CHECK(characters.decode_text(characters.encode_text(text)) == text);
  CHECK_THROWS_AS(characters.encode_text("x"), ValueError);
  CHECK_THROWS_AS(characters.encode_text("\xff"), ValueError);
}

TEST_CASE("vocabulary: from_text inverts to_text, also with line breaks and backslashes",
          "[train]") {
  for (const Vocabulary& vocabulary :
       {Vocabulary::plain({}), Vocabulary::plain({"\n", "\\", "\\n", "a\nb", "<unk>"}),
        Vocabulary({"a", "\n", "\\n"}), Vocabulary({"\\n"})})
    CHECK(Vocabulary::from_text(vocabulary.to_text()) == vocabulary);
  CHECK(Vocabulary({"\\n"}).to_text() == "\\n\n");
  for (const char* text :
       {"\nother\na\n", "\nplain\n\\\n", "\nplain\n\\x\n", "\nplain\n\n", "\n\n"})
    CHECK_THROWS_AS(Vocabulary::from_text(text), ValueError);
}
