// A libFuzzer target: any bytes as a file of data, of a tokenizer or of a training. The first byte
// says which: 'c' for CSV, 'w' for vocab.txt, 'b' for vocab.json and merges.txt with a NUL between
// them, 'v' for a vocabulary in a checkpoint; 'm' for metrics.csv, 'r' for run.json and 'l' for
// last.h5 of a folder that is described and in which a training resumes; otherwise the bytes are a
// text from which a vocabulary is learned.
#include <iterator>
#include <span>

#include <weft/train/data/csv.hpp>
#include <weft/train/report/run_record.hpp>
#include <weft/train/text/tokenizers/byte_pair_encoding.hpp>
#include <weft/train/text/tokenizers/word_piece.hpp>
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/training.hpp"
#include "train/files/internal/checksummed_file.hpp"

namespace {

using namespace weft;

const std::string sample = "Weaving, don't\u00a0 weave 2026! e\u0301 \u7e54 <|end|> [MASK]\t\n ";

void read_table(const std::string& contents) {
  for (const CsvOptions& options : {CsvOptions{}, CsvOptions{.separator = '\t', .header = false}})
    attempt([&] {
      const Table table = read_csv(write("table.csv", contents), options);
      attempt([&] { (void)table.numbers(); });
    });
}

void read_words(const std::string& contents) {
  const WordPiece tokenizer(write("vocab.txt", contents));
  const WordPiecePair pair = tokenizer.encode_pair(sample, "weft", 12);
  (void)tokenizer.decode(pair.tokens);
}

void encode(const BytePairEncoding& tokenizer) {
  if (tokenizer.decode(tokenizer.encode(sample)) != sample) std::abort();
  if (BytePairEncoding::from_text(tokenizer.to_text()).size() != tokenizer.size()) std::abort();
}

void read_byte_pairs(const std::string& contents) {
  const auto [vocabulary, merges] = parts_of(contents);
  encode(BytePairEncoding::load(write("vocab.json", vocabulary), write("merges.txt", merges)));
}

void read_vocabulary(const std::string& contents) {
  const Vocabulary vocabulary = Vocabulary::from_text(contents);
  if (!(Vocabulary::from_text(vocabulary.to_text()) == vocabulary)) std::abort();
  (void)vocabulary.decode_text(vocabulary.encode_text(sample));
}

// The files of a training of two steps, with one replaced.
void resume(const std::string& replaced, const std::string& contents) {
  static constexpr const char* names[] = {"last.h5", "metrics.csv", "run.json"};
  static const std::vector<std::string> files = [] {
    SmallTraining().run(folder() / "trained", 2);
    std::vector<std::string> read;
    for (const char* name : names) {
      std::ifstream file(folder() / "trained" / name, std::ios::binary);
      read.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return read;
  }();
  for (std::size_t i = 0; i < files.size(); ++i)
    write(std::string("resumed/") + names[i], names[i] == replaced ? contents : files[i]);
  const std::filesystem::path resumed = folder() / "resumed";
  if (replaced == "last.h5") {
    // Of the size that the file says, and with the right checksum: what they do not refuse.
    std::string image = contents;
    image.resize(files.front().size() - checksum_line_size);
    ChecksummedFile sealed(resumed / "last.h5");
    sealed.write(std::as_bytes(std::span(image)));
    sealed.commit();
    SavedVocabulary vocabulary;
    attempt([&] { load_state(resumed / "last.h5", "vocabulary", vocabulary); });
  }
  attempt([&] {
    const std::vector<RunRecord> runs(2, read_run(resumed, 3));
    write_comparison(resumed / "comparison.html", runs);
  });
  recorded_notes(resumed);
  SmallTraining().run(resumed, 3);
}

void learn(const std::string& text) { encode(BytePairEncoding::learn(text, 300)); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string all(reinterpret_cast<const char*>(data), size);
  const std::string rest = all.empty() ? "" : all.substr(1);
  attempt([&] {
    switch (all.empty() ? ' ' : all.front()) {
      case 'c':
        return read_table(rest);
      case 'w':
        return read_words(rest);
      case 'b':
        return read_byte_pairs(rest);
      case 'v':
        return read_vocabulary(rest);
      case 'm':
        return resume("metrics.csv", rest);
      case 'r':
        return resume("run.json", rest);
      case 'l':
        return resume("last.h5", rest);
      default:
        return learn(all);
    }
  });
  return 0;
}
