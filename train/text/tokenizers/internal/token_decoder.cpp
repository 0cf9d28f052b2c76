#include "train/text/tokenizers/internal/token_decoder.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/train/files/utf8.hpp"
#include "weft/train/text/tokenizers/utf8_stream_decoder.hpp"
#include "train/text/tokenizers/internal/byte_letters.hpp"
#include "train/text/tokenizers/internal/step_types.hpp"
#include "train/text/tokenizers/internal/text_steps.hpp"

namespace weft {
namespace {

using nlohmann::json;
using Pieces = DecoderStep::Pieces;

using Place = DecoderStep::Place;

// Returns a step that changes each piece independently.
template <class Change>
DecoderStep each(const Change& change) {
  return {
      [change](Pieces& pieces, TextBudget& budget) {
        for (std::size_t i = 0; i < pieces.size(); ++i)
          pieces[i] = change(std::move(pieces[i]), Place{i == 0, i + 1 == pieces.size()}, budget);
      },
      change};
}

std::string joined(const Pieces& pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), std::string());
}

std::string replaced(std::string_view text, std::string_view part, std::string_view content,
                     TextBudget& budget) {
  return TextPattern::literal(part).replaced(
      text, budget, [&](const TextMatch&, std::string& result) { result += content; });
}

// Removes the spaces between words and punctuation, like BERT's original decoder.
std::string cleaned(std::string piece, TextBudget& budget) {
  constexpr std::pair<const char*, const char*> changes[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [part, content] : changes) piece = replaced(piece, part, content, budget);
  return piece;
}

std::string text_in(const json& d, const char* name) {
  const auto text = required_entry<std::string>(d, name);
  if (text.empty()) fail<ValueError>(name, "a nonempty string", "an empty string");
  return text;
}

DecoderStep byte_level(const json&) {
  const auto bytes_of = [](std::string piece) {
    return byte_pairs::bytes_of(piece).value_or(std::move(piece));
  };
  return {[=](Pieces& pieces, TextBudget&) {
            std::string bytes;
            for (std::string& piece : pieces) bytes += bytes_of(std::move(piece));
            pieces = {std::move(bytes)};
          },
          [=](std::string piece, Place, TextBudget&) { return bytes_of(std::move(piece)); }, true};
}

DecoderStep word_piece(const json& d) {
  return each([prefix = required_entry<std::string>(d, "prefix"),
               cleans = required_entry<bool>(d, "cleanup")](std::string piece, Place place,
                                                            TextBudget& budget) {
    if (!place.is_first)
      piece = piece.starts_with(prefix) ? piece.substr(prefix.size()) : ' ' + piece;
    return cleans ? cleaned(std::move(piece), budget) : piece;
  });
}

DecoderStep metaspace(const json& d) {
  return each([space = character_in(d, "replacement"), is_added = prepend_scheme(d) != "never"](
                  const std::string& piece, Place place, TextBudget& budget) {
    return replaced(piece, space, place.is_first && is_added ? "" : " ", budget);
  });
}

DecoderStep replace(const json& d) {
  return each([pattern = pattern_of(d), content = required_entry<std::string>(d, "content")](
                  const std::string& piece, Place, TextBudget& budget) {
    return pattern.replaced(piece, budget,
                            [&](const TextMatch&, std::string& result) { result += content; });
  });
}

// Returns the byte that a name such as "<0x0A>" stands for.
std::optional<char> byte_named(std::string_view name) {
  if (name.size() != 6 || !name.starts_with("<0x") || !name.ends_with('>')) return std::nullopt;
  unsigned byte = 0;
  const auto [end, error] = std::from_chars(name.data() + 3, name.data() + 5, byte, 16);
  if (error != std::errc() || end != name.data() + 5) return std::nullopt;
  return static_cast<char>(byte);
}

std::string in_characters(std::string_view bytes) {
  Utf8StreamDecoder characters;
  std::string text = characters.add(bytes);
  return text += characters.finish();
}

// Replaces tokens for bytes by the bytes. If consecutive bytes are not valid UTF-8, each of them
// becomes a replacement character.
DecoderStep byte_fallback(const json&) {
  return {[](Pieces& pieces, TextBudget&) {
            Pieces result;
            std::string bytes;
            const auto finish = [&] {
              if (bytes.empty()) return;
              if (in_characters(bytes) == bytes)
                result.push_back(bytes);
              else
                result.insert(result.end(), bytes.size(), "\uFFFD");
              bytes.clear();
            };
            for (std::string& piece : pieces) {
              if (const std::optional<char> byte = byte_named(piece)) {
                bytes += *byte;
                continue;
              }
              finish();
              result.push_back(std::move(piece));
            }
            finish();
            pieces = std::move(result);
          },
          [](const std::string& piece, Place, TextBudget&) {
            const std::optional<char> byte = byte_named(piece);
            return byte ? std::string(1, *byte) : piece;
          }};
}

DecoderStep fuse(const json&) {
  return {[](Pieces& pieces, TextBudget&) { pieces = {joined(pieces)}; },
          [](std::string piece, Place, TextBudget&) { return piece; }, true};
}

DecoderStep strip(const json& d) {
  const auto count = [&](const char* name) {
    const auto value = required_entry<std::int64_t>(d, name);
    if (value < 0) fail<ValueError>(name, "at least 0", value);
    return value;
  };
  DecoderStep step = each([content = character_in(d, "content"), start = count("start"),
                           stop = count("stop")](const std::string& piece, Place, TextBudget&) {
    std::string_view rest = piece;
    for (std::int64_t i = 0; i < start && rest.starts_with(content); ++i)
      rest.remove_prefix(content.size());
    for (std::int64_t i = 0; i < stop && rest.ends_with(content); ++i)
      rest.remove_suffix(content.size());
    return std::string(rest);
  });
  step.changes_ends = true;
  return step;
}

DecoderStep ends_of_words(const json& d) {
  return each(
      [suffix = text_in(d, "suffix")](const std::string& piece, Place place, TextBudget& budget) {
        return replaced(piece, suffix, place.is_last ? "" : " ", budget);
      });
}

// Decodes the output of connectionist temporal classification: a repeated token counts once.
DecoderStep temporal(const json& d) {
  DecoderStep step = each(
      [padding = text_in(d, "pad_token"), space = text_in(d, "word_delimiter_token"),
       cleans = required_entry<bool>(d, "cleanup")](std::string piece, Place, TextBudget& budget) {
        piece = replaced(piece, padding, "", budget);
        return cleans ? replaced(cleaned(std::move(piece), budget), space, " ", budget) : piece;
      });
  step.all = [all = step.all](Pieces& pieces, TextBudget& budget) {
    pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
    all(pieces, budget);
    std::erase(pieces, std::string());
  };
  return step;
}

const std::vector<StepType<DecoderStep>>& types() {
  static const std::vector<StepType<DecoderStep>> all = {
      {"ByteLevel", {"add_prefix_space", "trim_offsets", "?use_regex"}, byte_level},
      {"WordPiece", {"prefix", "cleanup"}, word_piece},
      {"Metaspace",
       {"replacement", "?add_prefix_space", "?prepend_scheme", "?split", "?str_rep"},
       metaspace},
      {"Replace", {"pattern", "content"}, replace},
      {"ByteFallback", {}, byte_fallback},
      {"Fuse", {}, fuse},
      {"Strip", {"content", "start", "stop"}, strip},
      {"BPEDecoder", {"suffix"}, ends_of_words},
      {"CTC", {"pad_token", "word_delimiter_token", "cleanup"}, temporal}};
  return all;
}

}  // namespace

TokenDecoder::TokenDecoder(const json& description) {
  if (description.is_null())
    steps_.push_back(each([](const std::string& piece, Place place, TextBudget&) {
      return place.is_first ? piece : ' ' + piece;
    }));
  for (const json& part : steps_of(description, "decoders"))
    steps_.push_back(make_step("decoder", types(), part));
}

std::string TokenDecoder::text_of(std::vector<std::string> names) const {
  TextBudget budget(joined(names).size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    // The previous step may have produced arbitrary bytes, but the following steps need UTF-8.
    if (i > 0 && steps_[i - 1].fuses)
      for (std::string& piece : names) piece = in_characters(piece);
    steps_[i].all(names, budget);
  }
  return joined(names);
}

std::string TokenDecoder::bytes_of(const std::string& name) const {
  TextBudget budget(name.size());
  std::string piece = name;
  bool is_fused = false;
  for (const DecoderStep& step : steps_) {
    if (in_characters(piece) != piece) break;
    if (!is_fused || !step.changes_ends)
      piece = step.one(std::move(piece), {is_fused, is_fused}, budget);
    is_fused = is_fused || step.fuses;
  }
  return piece;
}

}  // namespace weft
