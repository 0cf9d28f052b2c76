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
  CHECK(vocabulary.encode(std::vector<std::string>{"a", "z"}) == Sequence{4, 3});
}

TEST_CASE("vocabulary: decoding stops at <eos> and skips <pad> and <bos>", "[train]") {
  const Vocabulary vocabulary({"a", "b"});
  CHECK(vocabulary.decode(Sequence{1, 4, 0, 5, 3, 2, 4}) ==
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
  CHECK_THROWS_WITH(Vocabulary({"a", "a"}),
                    "vocabulary: expected each symbol once, and none of the special ones, got "
                    "'a' again");
  CHECK_THROWS_AS(Vocabulary({"<pad>"}), ValueError);
  CHECK_THROWS_AS(Vocabulary({""}), ValueError);
  CHECK_THROWS_AS(Vocabulary({"a\nb"}), ValueError);
  CHECK_THROWS_AS(Vocabulary::from_text("a\n\nb\n"), ValueError);
  CHECK_THROWS_WITH(Vocabulary({"a"}).symbol(5), "vocabulary: expected an id of 0 to 4, got 5");
  CHECK_THROWS_AS(Vocabulary().symbol(-1), ValueError);
}
