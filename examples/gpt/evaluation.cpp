#include "examples/gpt/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numbers>

#include <weft/autograd/error.hpp>
#include <weft/autograd/ops/softmax.hpp>
#include <weft/train/data/tensor_batch.hpp>
#include <weft/train/evaluation.hpp>

namespace weft::gpt {
namespace {

// Windows of a text.
struct TextBatch {
  Tokens inputs, targets;  // [windows, length]
  Index first;             // the number of targets before those of the batch
};

Index num_examples(const TextBatch& batch) { return batch.inputs.shape()[0]; }
Index num_labels(const TextBatch& batch) { return batch.targets.size(); }
TextBatch part_of(const TextBatch& batch, Index first, Index last) {
  return {rows_of(batch.inputs, first, last), rows_of(batch.targets, first, last),
          batch.first + first * batch.inputs.shape()[1]};
}

// Consecutive windows of a text. The last window may be shorter and is then a separate batch.
class TextWindows final : public DataSource<TextBatch> {
 public:
  TextWindows(const TokenIds& ids, Index length, Index batch_size)
      : ids_(ids), length_(length), batch_size_(batch_size) {}

  Index num_batches() const override {
    return (windows() + batch_size_ - 1) / batch_size_ + (targets() % length_ > 0 ? 1 : 0);
  }
  TextBatch batch(std::int64_t, Index position) override {
    const Index begin = position * batch_size_;
    if (begin < windows())
      return make(begin * length_, {std::min(batch_size_, windows() - begin), length_});
    return make(windows() * length_, {1, targets() % length_});
  }

 private:
  Index targets() const { return std::ssize(ids_) - 1; }
  Index windows() const { return targets() / length_; }
  TextBatch make(Index first, const Shape& shape) const {
    TextBatch batch{Tokens(shape), Tokens(shape), first};
    std::copy_n(ids_.begin() + first, shape.elements(), batch.inputs.begin());
    std::copy_n(ids_.begin() + first + 1, shape.elements(), batch.targets.begin());
    return batch;
  }

  const TokenIds& ids_;
  Index length_, batch_size_;
};

// Returns the number of windows per batch: as many as keep the largest tensors below 64 MiB, at
// least one.
Index batch_size(const SavedModel& saved, Index length) {
  constexpr Index most_elements = Index{1} << 24;
  const Shape& embeddings = saved.model.tokens.weight.shape();
  const Index largest = length * std::max(embeddings[0], 16 * embeddings[1]);
  return std::max<Index>(1, most_elements / largest);
}

// Returns the number of parts that a batch is split into. With few windows per batch, as for large
// models, each operation is parallelized instead.
Index parts_of_batch(Index batch_size) { return batch_size < 8 ? 1 : 8; }

// Returns the loss of each token except the first, in nats.
std::vector<double> token_losses(const SavedModel& saved, const TokenIds& ids) {
  if (ids.size() < 2) fail<ValueError>("text", "at least two tokens", ids.size());
  std::vector<double> losses(ids.size() - 1);
  const Index length = std::min(saved.context(), std::ssize(losses));
  const Index size = batch_size(saved, length);
  TextWindows windows(ids, length, size);
  (void)mean_metric<float>(
      windows,
      [&](Tape<float>& tape, const TextBatch& batch) {
        const Tensor<float> logits = log_softmax(saved.model(tape, batch.inputs)).value();
        const Index vocabulary = logits.shape()[2];
        auto loss = losses.begin() + batch.first;
        const float* row = logits.data();
        for (const TokenId target : batch.targets) {
          *loss++ = -static_cast<double>(row[target]);
          row += vocabulary;
        }
        return 0.0;
      },
      parts_of_batch(size));
  return losses;
}

}  // namespace

double TextLoss::mean() const { return nats / static_cast<double>(tokens); }
double TextLoss::perplexity() const { return std::exp(mean()); }
double TextLoss::bits_per_byte() const {
  return nats / std::numbers::ln2 / static_cast<double>(bytes);
}

std::string TextLoss::to_string() const {
  TextStream out;
  out << std::fixed << std::setprecision(4) << "loss " << mean() << " per token, perplexity "
      << perplexity() << ", " << bits_per_byte() << " bits per byte, " << tokens << " tokens, "
      << bytes << " bytes";
  return out.str();
}

std::vector<TextLoss> losses_of_lines(const SavedModel& saved, std::string_view text) {
  const TokenIds ids = saved.tokenizer.encode(text);
  const std::vector<double> losses = token_losses(saved, ids);
  std::vector<TextLoss> lines;
  std::size_t token = 0, token_begin = 0;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    TextLoss& line = lines.emplace_back();
    line.bytes = end - begin;
    for (; token < ids.size() && token_begin < end; ++token) {
      token_begin += saved.tokenizer.token(ids[token]).size();
      if (token == 0) continue;
      ++line.tokens;
      line.nats += losses[token - 1];
    }
  }
  return lines;
}

TextLoss sum_of(const std::vector<TextLoss>& losses) {
  TextLoss sum;
  for (const TextLoss& loss : losses) {
    sum.tokens += loss.tokens;
    sum.nats += loss.nats;
    sum.bytes += loss.bytes;
  }
  return sum;
}

}  // namespace weft::gpt
