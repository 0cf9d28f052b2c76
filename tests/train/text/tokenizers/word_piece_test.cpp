#include <map>
#include <string>

#include <weft/autograd/error.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/text/tokenizers/word_piece.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

const std::string vocabulary_file = WEFT_TEST_DATA "/word_piece_vocab.txt";

// The lists of write_word_piece.py: values one list after the other, and how many each has.
std::vector<TokenIds> lists(const Hdf5File& file, const std::string& values,
                            const std::string& sizes) {
  const Tokens all = file.tensor<TokenId>(values), counts = file.tensor<TokenId>(sizes);
  std::vector<TokenIds> result;
  auto begin = all.begin();
  for (const TokenId count : counts) {
    result.emplace_back(begin, begin + count);
    begin += count;
  }
  REQUIRE(begin == all.end());
  return result;
}

std::vector<std::string> strings(const Hdf5File& file, const std::string& values,
                                 const std::string& sizes) {
  std::vector<std::string> texts;
  for (const TokenIds& bytes : lists(file, values, sizes)) {
    std::string& text = texts.emplace_back();
    for (const TokenId byte : bytes) text += static_cast<char>(byte);
  }
  return texts;
}

// A file with these tokens in its lines, or as JSON.
class VocabularyFile {
 public:
  explicit VocabularyFile(const std::string& text, const std::string& name = "vocab.txt")
      : name_(name) {
    write_bytes(path(), text);
  }
  std::filesystem::path path() const { return folder_ / name_; }

 private:
  TemporaryFolder folder_;
  std::string name_;
};

std::string message_for(const std::string& vocabulary, const std::string& name = "vocab.txt") {
  const VocabularyFile file(vocabulary, name);
  const std::string message = message_of<FileError>([&] { WordPiece tokenizer(file.path()); });
  const std::size_t begin = message.find(name + "\": ");
  return begin == message.npos ? message : message.substr(begin + name.size() + 3);
}

const std::string specials = "[UNK]\n[CLS]\n[SEP]\n";

}  // namespace

TEST_CASE("WordPiece: ids of 1000 texts are those of tokenizers", "[tokenizers]") {
  const Hdf5File file(WEFT_TEST_DATA "/word_piece.h5");
  const std::vector<std::string> texts = strings(file, "texts", "text_sizes");
  REQUIRE(texts.size() == 1000);
  const std::pair<std::string, WordPieceOptions> cases[] = {
      {"lower", {}},
      {"cased", {.lower_case = false}},
      {"lower_with_accents", {.strip_accents = false}},
      {"cased_without_accents", {.lower_case = false, .strip_accents = true}}};
  for (const auto& [name, options] : cases) {
    const WordPiece tokenizer(vocabulary_file, options);
    const std::vector<TokenIds> expected = lists(file, name + "/ids", name + "/sizes");
    for (std::size_t i = 0; i < texts.size(); ++i) {
      INFO(name << ", text " << i << ": " << texts[i]);
      CHECK(tokenizer.encode(texts[i]) == expected[i]);
    }
  }
}

TEST_CASE("WordPiece: pairs, truncated, and their segments are those of tokenizers",
          "[tokenizers]") {
  const Hdf5File file(WEFT_TEST_DATA "/word_piece.h5");
  const std::vector<std::string> texts = strings(file, "texts", "text_sizes");
  const std::vector<TokenIds> tokens = lists(file, "pairs/ids", "pairs/sizes"),
                              segments = lists(file, "pairs/segments", "pairs/sizes");
  const WordPiece tokenizer(vocabulary_file);
  for (std::size_t i = 0; i + 1 < texts.size(); ++i) {
    INFO("text " << i << ": " << texts[i]);
    const WordPiecePair pair = tokenizer.encode_pair(texts[i], texts[i + 1], 16);
    CHECK(pair.tokens == tokens[i]);
    CHECK(pair.segments == segments[i]);
  }
}

TEST_CASE("WordPiece: decoded texts are those of tokenizers", "[tokenizers]") {
  const Hdf5File file(WEFT_TEST_DATA "/word_piece.h5");
  const std::vector<std::string> decoded = strings(file, "decoded", "decoded_sizes");
  const std::vector<TokenIds> ids = lists(file, "lower/ids", "lower/sizes");
  const WordPiece tokenizer(vocabulary_file);
  for (std::size_t i = 0; i < ids.size(); ++i) CHECK(tokenizer.decode(ids[i]) == decoded[i]);
}

TEST_CASE("WordPiece: words become the longest tokens", "[tokenizers]") {
  const VocabularyFile file(specials + "un\n##aff\n##able\n##a\nunaf\n,\n");
  const WordPiece tokenizer(file.path());
  CHECK(tokenizer.size() == 9);
  // "unaf" is longer than "un", and nothing continues it with "f": the word has no tokens.
  CHECK(tokenizer.encode("unaffable") == TokenIds{1, 0, 2});
  CHECK(tokenizer.encode("UNAABLE, un") == TokenIds{1, 3, 6, 5, 8, 3, 2});
  CHECK(tokenizer.decode(TokenIds{1, 3, 6, 5, 8, 3, 2}) == "unaable, un");
  CHECK(tokenizer.token(4) == "##aff");
  CHECK(tokenizer.find("##able") == 5);
  CHECK_FALSE(tokenizer.find("able"));
}

TEST_CASE("WordPiece: texts are truncated to max_len ids", "[tokenizers]") {
  const VocabularyFile file(specials + "a\nb\n");
  const WordPiece tokenizer(file.path());
  CHECK(tokenizer.encode("a b a b", 5) == TokenIds{1, 3, 4, 3, 2});
  CHECK(tokenizer.encode("a b", 5) == TokenIds{1, 3, 4, 2});
  CHECK(tokenizer.encode("a b", 2) == TokenIds{1, 2});
  CHECK(tokenizer.encode_pair("a a a", "b", 6).tokens == TokenIds{1, 3, 3, 2, 4, 2});
  CHECK(message_of<ValueError>([&] { tokenizer.encode("a", 1); }) ==
        "WordPiece: max_len: expected at least 2, got 1");
  CHECK(message_of<ValueError>([&] { tokenizer.encode_pair("a", "b", 2); }) ==
        "WordPiece: max_len: expected at least 3, got 2");
}

TEST_CASE("WordPiece: vocabularies with carriage returns, and without a last line break",
          "[tokenizers]") {
  const VocabularyFile file("[UNK]\r\n[CLS]\r\n[SEP]\r\na\r\nb");
  const WordPiece tokenizer(file.path());
  CHECK(tokenizer.size() == 5);
  CHECK(tokenizer.encode("b a") == TokenIds{1, 4, 3, 2});
}

TEST_CASE("WordPiece: the vocabulary of a tokenizer.json", "[tokenizers]") {
  const std::string name = "tokenizer.json", begin = R"({"model": {"vocab": )";
  const VocabularyFile file(
      begin + R"({"b": 4, "[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "\n": 5}}})", name);
  const WordPiece tokenizer(file.path());
  CHECK(tokenizer.size() == 6);
  CHECK(tokenizer.encode("b A") == TokenIds{1, 4, 3, 2});
  CHECK(message_for("[]", name) == "expected a vocabulary that maps tokens to ids, got none");
  CHECK(message_for(R"({"model": {"type": "BPE"}})", name) ==
        "expected a model of type WordPiece, got 'BPE'");
  CHECK(message_for(begin + R"({"a": 0, "b": 2}}})", name) ==
        "expected each id from 0 to 1 once, got 2 for 'b'");
  CHECK(message_for(begin + R"({"a": 0, "b": 0}}})", name) ==
        "expected each id from 0 to 1 once, got 0 for 'b'");
  CHECK(message_for(begin + R"({"a": 0, "b": -1}}})", name) ==
        "expected each id from 0 to 1 once, got -1 for 'b'");
  CHECK(message_for(begin + R"({"a": 0}}})", name) ==
        "expected a vocabulary with [UNK], [CLS] and [SEP], got 1 tokens without [UNK]");
}

TEST_CASE("WordPiece: added tokens follow the vocabulary, in the order of their ids",
          "[tokenizers]") {
  const VocabularyFile file(specials + "a\n");
  using Added = std::map<std::string, TokenId>;
  const auto tokenizer = [&](const Added& added) {
    return WordPiece(file.path(), {.added_tokens = added});
  };
  const Added added{{"<y>", 5}, {"<x>", 4}, {"a", 3}, {"[SEP]", 2}};
  CHECK(tokenizer(added).size() == 6);
  CHECK(tokenizer(added).encode("a<y>a <x>") == TokenIds{1, 3, 5, 3, 4, 2});
  const auto message = [&](const Added& wrong) {
    return message_of<FileError>([&] { (void)tokenizer(wrong); });
  };
  CHECK(contains(message({{"<x>", 5}}), "expected the id 4 for an added token, got 5 for '<x>'"));
  CHECK(contains(message({{"a", 4}}), "expected the id 3 for an added token, got 4 for 'a'"));
}

TEST_CASE("WordPiece: bad vocabularies are errors that name the line", "[tokenizers]") {
  CHECK(message_for("") == "expected text, got an empty file");
  CHECK(message_for("[UNK]\n[CLS]\na\n") ==
        "expected a vocabulary with [UNK], [CLS] and [SEP], got 3 tokens without [SEP]");
  CHECK(message_for("{\"a\": 1}\n") ==
        "expected a vocabulary with [UNK], [CLS] and [SEP], got 1 tokens without [UNK]");
  CHECK(message_for(specials + "a\nb\na\n") ==
        "expected each token once, got 'a' in lines 4 and 6");
  CHECK(message_for(specials + "a\n\nb\n") == "expected a token in each line, got an empty line 5");
  CHECK(message_for(specials + "a\n\xFF\n") == "expected UTF-8 text, got byte 255 at position 20");
  CHECK(contains(message_of<FileError>([] { WordPiece tokenizer("no_such_vocab.txt"); }),
                 "no_such_vocab.txt\": expected a file, got no such file"));
  CHECK_THROWS_AS(WordPiece("/"), FileError);
}

TEST_CASE("WordPiece: bad texts and ids are errors", "[tokenizers]") {
  const WordPiece tokenizer(vocabulary_file);
  CHECK(message_of<ValueError>([&] { tokenizer.encode("ab\xC3"); }) ==
        "text: expected UTF-8 text, got byte 195 at position 2");
  CHECK(message_of<ValueError>([&] { tokenizer.token(381); }) ==
        "WordPiece: id: expected a value from 0 to 380, got 381");
  CHECK_THROWS_AS(tokenizer.decode(TokenIds{-1}), ValueError);
}
