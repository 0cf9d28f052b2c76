#include <weft/autograd/error.hpp>
#include <weft/train/files/hdf5/hdf5_file.hpp>
#include <weft/train/text/tokenizers/byte_pair_encoding.hpp>
#include <weft/train/text/tokenizers/utf8_stream_decoder.hpp>
#include "tests/catch.hpp"
#include "tests/messages.hpp"
#include "tests/train/file_bytes.hpp"
#include "tests/train/temporary_folder.hpp"

using namespace weft;

namespace {

const std::filesystem::path golden = WEFT_TEST_DATA "/byte_pair_encoding";

BytePairEncoding golden_encoding() {
  return BytePairEncoding::load(golden / "vocab.json", golden / "merges.txt");
}

std::string text_of(const Hdf5File& file, const std::string& dataset) {
  std::string text;
  for (const std::int32_t byte : file.tensor<std::int32_t>(dataset))
    text += static_cast<char>(byte);
  return text;
}

struct Example {
  std::string text;
  TokenIds ids;
};

std::vector<Example> golden_examples(const std::string& group) {
  const Hdf5File file(golden / "ids.h5");
  const std::string text = text_of(file, group + "/bytes");
  const Tokens all = file.tensor<std::int32_t>(group + "/ids");
  const Tensor<std::int32_t> bytes = file.tensor<std::int32_t>(group + "/byte_counts"),
                             ids = file.tensor<std::int32_t>(group + "/id_counts");
  std::vector<Example> examples;
  std::size_t at = 0;
  const TokenId* next = all.data();
  for (Index i = 0; i < ids.size(); ++i) {
    const auto count = static_cast<std::size_t>(bytes(i));
    examples.push_back({text.substr(at, count), TokenIds(next, next + ids(i))});
    at += count;
    next += ids(i);
  }
  return examples;
}

// A folder with a vocabulary of the bytes, and of "ab", "abc" and "<|endoftext|>", ids 256 to 258.
struct Files {
  TemporaryFolder folder;
  std::filesystem::path vocabulary = folder / "vocab.json", merges = folder / "merges.txt";

  Files() { BytePairEncoding::learn("ab ab abc abc", 259).save(vocabulary, merges); }
  BytePairEncoding load() const { return BytePairEncoding::load(vocabulary, merges); }
  // The message of the error, without the folder.
  std::string error() const {
    const std::string message = message_of<FileError>([&] { load(); });
    const std::string name = folder.path().string() + '/';
    const std::size_t at = message.find(name);
    return at == message.npos ? message : message.substr(at + name.size());
  }
  std::string error_with_vocabulary(const std::string& text) const {
    write_bytes(vocabulary, text);
    return error();
  }
  std::string error_with_merges(const std::string& text) const {
    write_bytes(merges, text);
    return error();
  }
};

}  // namespace

TEST_CASE("byte pairs: the ids of 1000 lines are those of GPT2TokenizerFast", "[train]") {
  const BytePairEncoding encoding = golden_encoding();
  const std::vector<Example> examples = golden_examples("lines");
  REQUIRE(examples.size() == 1000);
  std::size_t different = 0;
  for (const auto& [text, ids] : examples) {
    if (encoding.encode(text) != ids) {
      ++different;
      UNSCOPED_INFO(printable(text));
    }
    CHECK((encoding.decode(ids) == text));
  }
  CHECK(different == 0);
}

TEST_CASE("byte pairs: ids that are no text are decoded to bytes, and printed as UTF-8",
          "[train]") {
  const BytePairEncoding encoding = golden_encoding();
  for (const auto& [text, ids] : golden_examples("broken")) {
    Utf8StreamDecoder at_once, one_by_one;
    const std::string bytes = encoding.decode(ids);
    std::string printed = at_once.add(bytes);
    CHECK((printed + at_once.finish() == text));
    printed.clear();
    for (const char byte : bytes) printed += one_by_one.add({&byte, 1});
    CHECK((printed + one_by_one.finish() == text));
  }
}

TEST_CASE("byte pairs: a vocabulary is learned as by Hugging Face's tokenizers", "[train]") {
  const std::string text = text_of(Hdf5File(golden / "ids.h5"), "text");
  const TemporaryFolder folder;
  const BytePairEncoding learned = BytePairEncoding::learn(text, 640);
  CHECK(learned.size() == 640);
  learned.save(folder / "vocab.json", folder / "merges.txt");
  CHECK((bytes_of(folder / "merges.txt") == bytes_of(golden / "merges.txt")));
  // There the special token is the first one, here the last.
  const BytePairEncoding other = golden_encoding();
  CHECK(learned.find(BytePairEncoding::end_of_text) == 639);
  CHECK(other.find(BytePairEncoding::end_of_text) == 0);
  for (TokenId id = 0; id < 639; ++id) CHECK((learned.token(id) == other.token(id + 1)));
}

TEST_CASE("byte pairs: what is learned from a few words", "[train]") {
  // The words are "ab", " ab", " abc", " abc": "ab" is merged first, then " ab" (3), then " abc".
  const BytePairEncoding encoding = BytePairEncoding::learn("ab ab abc abc", 260);
  CHECK(encoding.token(256) == "ab");
  CHECK(encoding.token(257) == " ab");
  CHECK(encoding.token(258) == " abc");
  CHECK(encoding.token(259) == "<|endoftext|>");
  CHECK(encoding.encode("ab abc<|endoftext|>b") == TokenIds{256, 258, 259, 'b' - '!'});
  // No pair occurs twice any more, neither within a word nor across the end of a text.
  CHECK(BytePairEncoding::learn("ab ab abc abc", 1000).size() == 260);
  // Nothing is learned from the ends of texts, however many there are.
  const std::string end(BytePairEncoding::end_of_text);
  const BytePairEncoding ended =
      BytePairEncoding::learn(str_cat("ab", end, "ab", end, "ab", end), 1000);
  CHECK(ended.size() == 258);
  CHECK(ended.find("ab").has_value());
  CHECK(BytePairEncoding::learn("xy<|endoftext|>x<|endoftext|>y", 300).size() == 257);
  CHECK(BytePairEncoding::learn("", 300).size() == 257);
  // In "aaaa", "aa" occurs three times, and once where two of them have become tokens.
  CHECK(BytePairEncoding::learn("aaaa aaaa", 300).token(257) == "aaaa");
}

TEST_CASE("byte pairs: saved files load as the same vocabulary", "[train]") {
  const Files files;
  const BytePairEncoding learned =
      BytePairEncoding::learn("\"\\ \"\\ \x01\xC3\xA9\x01\xC3\xA9", 262);
  learned.save(files.vocabulary, files.merges);
  const BytePairEncoding loaded = files.load();
  REQUIRE(loaded.size() == learned.size());
  for (TokenId id = 0; id < loaded.size(); ++id) CHECK((loaded.token(id) == learned.token(id)));
  const std::string text = "\"\\ \x01\xC3\xA9\x01<|endoftext|>";
  CHECK(loaded.encode(text) == learned.encode(text));
  // With the line breaks of Windows, without the line of the version, and without the last break.
  const std::string merges = bytes_of(files.merges);
  std::string changed;
  for (const char c : merges.substr(merges.find('\n') + 1, merges.size() - 1))
    changed += c == '\n' ? "\r\n" : std::string(1, c);
  write_bytes(files.merges, changed.substr(0, changed.size() - 2));
  CHECK(files.load().encode(text) == learned.encode(text));
}

TEST_CASE("byte pairs: the text of a vocabulary is that of its files", "[train]") {
  const Files files;
  const BytePairEncoding::Text text = files.load().to_text();
  CHECK(text.vocabulary == bytes_of(files.vocabulary));
  CHECK(text.merges == bytes_of(files.merges));
  const std::string abc = "ab abc<|endoftext|>";
  CHECK(BytePairEncoding::from_text(text).encode(abc) == files.load().encode(abc));
  CHECK(contains(message_of<FileError>([&] {
                   static_cast<void>(BytePairEncoding::from_text({text.vocabulary, "a b c"}));
                 }),
                 "\"merges.txt\", line 1: expected two tokens"));
  CHECK(contains(message_of<FileError>([] {
                   static_cast<void>(BytePairEncoding::from_text({"", ""}));
                 }),
                 "\"vocab.json\": expected JSON"));
}

TEST_CASE("byte pairs: every special token is found, the longest first", "[train]") {
  const Files files;
  std::string vocabulary = bytes_of(files.vocabulary);
  vocabulary.replace(vocabulary.rfind('}'), 1, ",\"<|é|>\":259,\"<|é|>x\":260}");
  write_bytes(files.vocabulary, vocabulary);
  const BytePairEncoding encoding = files.load();
  CHECK(encoding.encode("<|é|>x<|é|>ab<|endoftext|><|é|") ==
        TokenIds{260, 259, 256, 258, '<' - '!', '|' - '!', 94 + 0xC3 - 0xA1 - 1, 94 + 0xA9 - 0xA1,
                 '|' - '!'});
  CHECK(encoding.decode(TokenIds{260, 256}) == "<|é|>xab");
}

TEST_CASE("byte pairs: arguments outside their ranges are refused", "[train]") {
  const Files files;
  const BytePairEncoding encoding = files.load();
  CHECK(message_of<ValueError>([&] { encoding.token(259); }) ==
        "token id: expected a value from 0 to 258, got 259");
  CHECK_THROWS_AS(encoding.decode(TokenIds{1, -1}), ValueError);
  CHECK(encoding.find("ab") == 256);
  CHECK_FALSE(encoding.find("xyz"));
  CHECK(message_of<ValueError>([&] { encoding.encode("ab\xC3"); }) ==
        "text: expected UTF-8 text, got byte 195 at position 2");
  CHECK_THROWS_AS(BytePairEncoding::learn("\xFF", 300), ValueError);
  CHECK(message_of<ValueError>([&] { BytePairEncoding::learn("ab", 256); }) ==
        "BytePairEncoding: vocabulary_size: expected at least 257 (the bytes and the end-of-text "
        "token), got 256");
}

TEST_CASE("byte pairs: a vocabulary that is none is refused", "[train]") {
  const Files files;
  const std::string good = bytes_of(files.vocabulary);
  const auto with = [&](const std::string& part, const std::string& replacement) {
    std::string text = good;
    REQUIRE(contains(text, part));
    text.replace(text.find(part), part.size(), replacement);
    return files.error_with_vocabulary(text);
  };
  CHECK(with("\"ab\":256", "\"ab\":") ==
        "vocab.json\": expected JSON, got an error in line 1, at byte " +
            std::to_string(good.find(":256") + 2));
  CHECK(with("\"ab\":256", "\"ab\":255") ==
        "vocab.json\": expected each id from 0 to 258 once, got 255 for token 'Ń'");
  CHECK(with("\"ab\":256", "\"ab\":-1") ==
        "vocab.json\": expected each id from 0 to 258 once, got -1 for token 'ab'");
  CHECK(with("\"ab\":256", "\"ab\":99999999999999999999") ==
        "vocab.json\": expected an integer for token 'ab', got number");
  CHECK(with("\"ab\":256", "\"ab\":\"256\"") ==
        "vocab.json\": expected an integer for token 'ab', got string");
  CHECK(with("\"ab\"", "\"\"") == "vocab.json\": expected nonempty tokens, got ''");
  CHECK(with("\"#\"", "\"##\"") ==
        "vocab.json\": expected a token for each byte, got no token '#'");
  CHECK(files.error_with_vocabulary("[1, 2]") ==
        "vocab.json\": expected an object that maps tokens to ids, got array");
  CHECK(files.error_with_vocabulary(std::string(1'000'000, '[') + std::string(1'000'000, ']')) ==
        "vocab.json\": JSON: expected at most 100 levels, got more");
  CHECK(files.error_with_vocabulary("") == "vocab.json\": expected text, got an empty file");
  CHECK(files.error_with_vocabulary("{\"\xFF\":0}") ==
        "vocab.json\": expected UTF-8 text, got byte 255 at position 2");
  CHECK(files.error_with_vocabulary("{}") ==
        "vocab.json\": expected a token for each byte, got no token '!'");
  std::filesystem::remove(files.vocabulary);
  CHECK(files.error() == "vocab.json\": expected a file, got no such file");
}

TEST_CASE("byte pairs: merges that are none are refused by their line", "[train]") {
  const Files files;
  const std::string pairs = "merges.txt\", line 2: expected two tokens separated by a space, ";
  CHECK(files.error_with_merges("a b\nab\n") == pairs + "got 'ab'");
  CHECK(files.error_with_merges("a b\na b c\n") == pairs + "got 'a b c'");
  CHECK(files.error_with_merges("a b\nab \n") == pairs + "got 'ab '");
  CHECK(files.error_with_merges("a b\n\nĠ ab\n") == pairs + "got ''");
  CHECK(files.error_with_merges(str_cat("a b\na ", std::string(1000, 'b'), " c")) ==
        pairs + "got 'a " + std::string(78, 'b') + "…'");
  CHECK(files.error_with_merges("a b\nb c\n") ==
        "merges.txt\": pair 2 of merges: expected two tokens of the vocabulary that merge into a "
        "token of the vocabulary, got [\"b\",\"c\"]");
  CHECK(files.error_with_merges("#version: 0.2\na b\na b\n") ==
        "merges.txt\": pair 2 of merges: expected each pair of tokens once, got [\"a\",\"b\"]");
  CHECK(files.error_with_merges("") == "merges.txt\": expected text, got an empty file");
  std::filesystem::remove(files.merges);
  CHECK(files.error() == "merges.txt\": expected a file, got no such file");
}
