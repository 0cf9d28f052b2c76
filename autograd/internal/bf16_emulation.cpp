#include "autograd/internal/bf16_emulation.hpp"

#include <atomic>

namespace weft {
namespace {

std::atomic<int> emulations = 0;

}  // namespace

EmulateBf16::EmulateBf16() { ++emulations; }
EmulateBf16::~EmulateBf16() { --emulations; }
bool EmulateBf16::is_on() { return emulations > 0; }

}  // namespace weft
