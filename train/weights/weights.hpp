// Includes load_weights and save_weights, which read and write a model's parameters and buffers in
// files of weft and of other programs.
#pragma once

#include "weft/train/weights/load_weights.hpp"
#include "weft/train/weights/save_weights.hpp"
