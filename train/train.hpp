// Everything in train/.
#pragma once

#include "train/adam.hpp"
#include "train/batches.hpp"
#include "train/checkpoint.hpp"
#include "train/clip.hpp"
#include "train/folder_lock.hpp"
#include "train/generation.hpp"
#include "train/hdf5_file.hpp"
#include "train/interrupt.hpp"
#include "train/optimizer.hpp"
#include "train/progress_line.hpp"
#include "train/schedule.hpp"
#include "train/sgd.hpp"
#include "train/state.hpp"
#include "train/trainer.hpp"
#include "train/training_progress.hpp"
#include "train/vocabulary.hpp"
