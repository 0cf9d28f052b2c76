#include "weft/train/pretrained/keras/keras_model.hpp"

#include <utility>

#include "weft/autograd/error.hpp"
#include "weft/autograd/ops/arithmetic.hpp"
#include "train/files/internal/json_entries.hpp"
#include "train/pretrained/keras/internal/keras_storage.hpp"

namespace weft {
namespace {

template <class T>
void add_penalties(const KerasLayer<T>& layer, Tape<T>& tape, std::optional<Var<T>>& sum) {
  for (const auto& [index, regularizer] : layer.regularizers) {
    const Var<T> penalty = regularizer(tape.parameter(layer.parameters[index].value));
    sum = sum ? *sum + penalty : penalty;
  }
  for (const KerasLayer<T>& child : layer.children) add_penalties(child, tape, sum);
}

template <class T>
void reset(KerasLayer<T>& layer) {
  layer.state.reset();
  for (KerasLayer<T>& child : layer.children) reset(child);
}

}  // namespace

template <class T>
KerasModel<T>::KerasModel(KerasModelState<T> state)
    : state_(std::make_unique<KerasModelState<T>>(std::move(state))) {}
template <class T>
KerasModel<T>::KerasModel(const KerasModel& other)
    : Module<T>(other), state_(std::make_unique<KerasModelState<T>>(*other.state_)) {}
template <class T>
KerasModel<T>::KerasModel(KerasModel&&) noexcept = default;
template <class T>
KerasModel<T>& KerasModel<T>::operator=(KerasModel other) noexcept {
  state_ = std::move(other.state_);
  return *this;
}
template <class T>
KerasModel<T>::~KerasModel() = default;

template <class T>
Var<T> KerasModel<T>::operator()(const Var<T>& x) const {
  const KerasResult<T> result = run({x});
  if (result.outputs.size() != 1)
    fail<ShapeError>("KerasModel", "a model with one output (otherwise call run)",
                     str_cat(result.outputs.size(), " outputs"));
  return result.outputs.front();
}

template <class T>
KerasResult<T> KerasModel<T>::run(const std::vector<Var<T>>& inputs) const {
  if (inputs.empty()) fail<ShapeError>("KerasModel: inputs", "at least one tensor", 0);
  KerasResult<T> result;
  KerasCall<T> call{.tape = inputs.front().tape(), .inputs = {}, .penalty = &result.penalty};
  for (const Var<T>& input : inputs) call.inputs.push_back({input});
  for (KerasValue<T>& output : state_->root(call))
    result.outputs.push_back(std::move(output.tensor));
  add_penalties(state_->root, call.tape, result.penalty);
  return result;
}

template <class T>
std::vector<KerasInput> KerasModel<T>::inputs() const {
  std::vector<KerasInput> inputs;
  for (const std::size_t i : state_->root.input_layers) {
    const KerasLayer<T>& layer = state_->root.children[i];
    inputs.push_back({layer.name, layer.input_sizes});
  }
  return inputs;
}

template <class T>
std::string KerasModel<T>::training_loss() const {
  const ZipMembers& texts = state_->storage.texts;
  const bool is_archive = state_->storage.is_archive;
  const auto found = texts.find(is_archive ? "config.json" : "training_config");
  if (found == texts.end()) return "";
  const nlohmann::json config = nlohmann::json::parse(found->second, nullptr, false);
  const nlohmann::json& loss = entry(is_archive ? entry(config, "compile_config") : config, "loss");
  if (loss.is_string()) return loss.get<std::string>();
  const nlohmann::json& options = entry(loss, "config");
  const bool is_of_logits = entry(options, "from_logits") == true;
  return !is_of_logits && entry(options, "name").is_string()
             ? entry(options, "name").get<std::string>()
             : "";
}

template <class T>
std::vector<std::string> KerasModel<T>::vocabulary() const {
  std::vector<std::string> tokens;
  for (const auto& [name, text] : state_->storage.texts) {
    if (!name.ends_with("text_vectorization/vocabulary.txt")) continue;
    for (std::size_t first = 0, end = 0; end != text.npos; first = end + 1) {
      end = text.find('\n', first);
      tokens.push_back(text.substr(first, end == text.npos ? end : end - first));
    }
    break;
  }
  return tokens;
}

template <class T>
void KerasModel<T>::reset_states() {
  reset(state_->root);
}

template <class T>
void KerasModel<T>::members(Members<T>& members) const {
  state_->root.members(members);
}

template class KerasModel<float>;
template class KerasModel<double>;

}  // namespace weft
