#include "examples/gpt/continuation.hpp"

#include <iomanip>
#include <iostream>

#include <weft/autograd/error.hpp>
#include <weft/train/text/generation/speculative.hpp>
#include <weft/train/text/tokenizers/utf8_stream_decoder.hpp>
#include "examples/gpt/stop_text.hpp"
#include "examples/gpt/tokenizer.hpp"

namespace weft::gpt {

ContinuationPrinter::ContinuationPrinter(const SavedModel& saved, std::string stop,
                                         const GenerateOptions& options)
    : saved_(saved), stop_(std::move(stop)), options_(options) {
  options_.eos_token_ids = saved.eos_token_ids;
  options_.max_context = saved.context();
}

void ContinuationPrinter::set_draft(const SavedModel& draft, Index proposals) {
  if (draft.tokenizer != saved_.tokenizer)
    fail<ValueError>("draft", "a model with the same vocabulary", "a different vocabulary");
  draft_ = &draft;
  proposals_ = proposals;
}

void ContinuationPrinter::print(const std::string& prompt, std::uint64_t seed) {
  const TokenIds ids = prompt.empty() ? beginning_of_text(saved_.tokenizer)
                                      : saved_.tokenizer.encode_with_ends(prompt);
  std::cout << prompt << std::flush;
  print_after(ids, seed);
}

std::string ContinuationPrinter::print_after(const TokenIds& ids, std::uint64_t seed) {
  Utf8StreamDecoder characters;
  StopText text(stop_);
  std::string result;
  const auto show = [&](const std::string& piece) {
    std::cout << piece << std::flush;
    result += piece;
  };
  Index count = 0;
  Clock::time_point first, last;
  GenerateOptions options = options_;
  options.seed = seed;
  options.on_token = [&](Index, TokenId token) {
    show(text.add(characters.add(saved_.tokenizer.token(token))));
    last = Clock::now();
    if (count++ == 0) first = last;
    return !text.is_found();
  };
  if (draft_) {
    const SpeculativeText speculative =
        generate_speculatively(saved_.model, draft_->model, ids, options, proposals_);
    proposed_ += speculative.proposed;
    accepted_ += speculative.accepted;
  } else {
    static_cast<void>(generate(saved_.model, ids, options));
  }
  show(text.add(characters.finish()) + text.finish());
  std::cout << std::endl;

  tokens_ += count;
  if (count > 1) timed_tokens_ += count - 1;
  seconds_ += last - first;
  // The last token is never part of a context.
  has_forgotten_ = has_forgotten_ || std::ssize(ids) + count - 1 > saved_.context();
  return result;
}

std::string ContinuationPrinter::report() const {
  TextStream out;
  out << std::fixed << std::setprecision(1) << tokens_ << " tokens";
  if (timed_tokens_ > 0)
    out << ", " << static_cast<double>(timed_tokens_) / seconds_.count() << " tokens/s";
  out << '\n';
  if (draft_) out << accepted_ << " of the draft's " << proposed_ << " proposals were accepted\n";
  if (has_forgotten_)
    out << "the text is longer than the context of " << saved_.context()
        << " tokens: its beginning was forgotten\n";
  return out.str();
}

}  // namespace weft::gpt
